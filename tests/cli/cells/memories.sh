# Every memory is listed; a recurrent state has a cell too.
. "$TESTDATA/../tests/cli/words"
kvtool cells "$TESTDATA/server/b0.7.0/qwen4exp.ggsq" --pos 33:
