# An id a line.
. "$TESTDATA/../tests/cli/words"
kvtool tokens "$TESTDATA/modern/b11118/llama-simple.ggsn"
