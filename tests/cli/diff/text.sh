# The same prompt, f32 and q8_0.
. "$TESTDATA/../tests/cli/words"
try kvtool diff $TESTDATA/modern/b11118/llama-fa-f32.ggsn $TESTDATA/modern/b11118/llama-fa-q8_0.ggsn --top 2
