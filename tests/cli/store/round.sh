# Put, list, look, get; what does not change from run to run.
. "$TESTDATA/../tests/cli/words"
export SOURCE_DATE_EPOCH=1790000000 KVTOOL_STORE=caches
kvtool store init
kvtool store put -q "Zoë" "$TESTDATA/server/b0.7.0/chat-turn1.ggsq" --note "first turn" --tag chat --tag "old"
kvtool store put -q "Zoë 2" "$TESTDATA/server/b0.7.0/chat-turn2.ggsq" --tag chat
kvtool pack -q "$several" -o several.kvz
kvtool store put -q "several" several.kvz
kvtool store put -q "piped" - <"$plain"
kvtool store ls --tsv | cut -f 1-3,5-11
kvtool store ls --tag old
kvtool store show "Zoë" | grep -v "of blocks when"
kvtool store get "Zoë" -o back && same back "$TESTDATA/server/b0.7.0/chat-turn1.ggsq"
kvtool store get "Zoë 2" -o - | cmp - "$TESTDATA/server/b0.7.0/chat-turn2.ggsq" && echo "the same through a pipe"
kvtool store get several -o back --force && same back "$several"
stat -c %a back
kvtool store get "piped" --like "$TESTDATA/server/b0.7.0/chat-turn1.ggsq" -o converted && same converted "$plain"
other=$TESTDATA/server/ik_llama-v3/llama-f16-no-fa.ggsq
kvtool store get "piped" --like "$other" -o converted --force
kvtool convert -q "$plain" --like "$other" -o beside && same beside converted
kvtool store pin "piped"
kvtool store ls | tail -n +2
kvtool store pin --off "piped"
kvtool store rm "Zoë" "Zoë 2"
kvtool store gc | sed 's/[0-9]* -> [0-9]*/N -> M/; s/^[0-9]*/N/'
kvtool store verify
kvtool store du --tsv | cut -f 1,4
