# What pack does not do.
. "$TESTDATA/../tests/cli/words"
try kvtool pack "$chat"
try kvtool pack no-such-file -o out
try kvtool pack --level 20 "$chat" -o out
cp "$chat" dump
try kvtool pack dump -o dump
try kvtool pack --force dump -o dump
same dump "$chat"
kvtool pack -q dump -o out
try kvtool pack dump -o out
try kvtool pack -q --force dump -o out
{ cat "$plain"; echo more; } >longer
try kvtool pack -q longer -o longer.kvz
kvtool pack -q --trailing keep longer -o longer.kvz
kvtool unpack -q longer.kvz -o - | cmp - longer && echo "with what trails"
