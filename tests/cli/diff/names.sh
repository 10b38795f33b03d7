. "$TESTDATA/../tests/cli/words"
try kvtool diff $TESTDATA/server/b0.7.0/grow-turn1.ggsq $TESTDATA/server/b0.7.0/grow-turn2.ggsq --names-only
try kvtool diff $TESTDATA/modern/b11118/llama-fa-f32.ggsn $TESTDATA/modern/b11118/llama-fa-q8_0.ggsn --names-only --layers 1:2
