# Attention, recurrent state with the untyped row, and index cache.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/server/b0.7.0/qwen4exp.ggsq"
