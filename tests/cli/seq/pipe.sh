# Through a pipe, in place, and compressed; the figures keep off standard output when the dump goes there.
. "$TESTDATA/../tests/cli/words"
kvtool seq rm "$several" --seq 1 -o plainly >/dev/null
kvtool seq rm - --seq 1 -o - <"$several" >piped
same plainly piped
cp "$several" file
kvtool seq rm -q file --seq 1 --in-place
same plainly file
try kvtool seq keep file 0 -o plainly
zstd -q "$several" -o packed
kvtool seq rm -q packed --seq 1 -o unpacked
same plainly unpacked
