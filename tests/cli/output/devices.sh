# A device or a named pipe is written to; nothing takes its place.
. "$TESTDATA/../tests/cli/words"
kvtool swap -q "$chat" 0 1 -o swapped
mkfifo pipe
cat pipe >read &
kvtool swap -q "$chat" 0 1 -o pipe
wait
same read swapped
[ -p pipe ] && echo "still a pipe"
try kvtool swap -q "$chat" 0 1 -o /dev/null
try kvtool pack -q "$chat" --force -o /dev/null
[ -c /dev/null ] && echo "still a device"
try kvtool swap "$chat" 0 1 -o /dev/full
