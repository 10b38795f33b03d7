# Output that cannot be written is an error, and not silence.
. "$TESTDATA/../tests/cli/words"
status=0
kvtool swap "$chat" 0 1 -o - >/dev/full || status=$?
kvtool cells "$chat" >/dev/full || status=$status,$?
echo $status
