# Every verb reads a packed file like the file itself.
. "$TESTDATA/../tests/cli/words"
kvtool pack -q "$chat" -o chat.kvz
kvtool pack -q --plain "$chat" -o chat.zst
for form in kvz zst; do
  for verb in inspect cells tokens map "map --cells" check "check --deep" stats; do
    kvtool $verb "$chat" | sed "s#$chat#FILE#" >plain.txt
    kvtool $verb chat.$form | sed "s#chat.$form#FILE#; /^packed /d" >packed.txt
    cmp plain.txt packed.txt && echo "$form: $verb says the same"
  done
  kvtool diff "$chat" chat.$form | head -n 1
  kvtool swap -q --force chat.$form 0 1 -o swapped && kvtool swap -q --force swapped 0 1 -o back && same back "$chat"
  kvtool swap chat.$form 0 1 --in-place 2>&1 || echo "refused: $?"
done
