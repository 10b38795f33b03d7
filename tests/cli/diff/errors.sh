. "$TESTDATA/../tests/cli/words"
try kvtool diff $TESTDATA/modern/b11118/llama-simple.ggsn
try kvtool diff $TESTDATA/modern/b11118/llama-simple.ggsn missing.ggsn
try kvtool diff $TESTDATA/modern/b11118/llama-simple.ggsn $TESTDATA/modern/b11118/llama-simple.ggsn --json --tsv
try kvtool diff $TESTDATA/modern/b11118/llama-simple.ggsn $TESTDATA/modern/b11118/llama-simple.ggsn --layers x
