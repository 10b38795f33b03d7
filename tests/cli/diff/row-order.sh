# Both parts of each head of K (64 numbers, 20 and 44) the other way round: heads are 128 bytes, and K of both layers 4096.
. "$TESTDATA/../tests/cli/words"
bytes() { tail -c +$(($2 + 1)) "$1" | head -c "$3"; }
turned() { for ((at = $2; at < $2 + 4096; at += 128)); do bytes "$1" $((at + 40)) 88; bytes "$1" $at 40; done; }
f=$TESTDATA/modern/rn-0.6.7/ds2mha.seq0.ggsq
{ bytes $f 0 168; turned $f 168; bytes $f 4264 12; turned $f 4276; bytes $f 8372 8192; } >turned.ggsq
try kvtool diff $f turned.ggsq --top 1
try kvtool diff turned.ggsq $f --summary
kvtool diff $f turned.ggsq --json --top 0 | grep -E '"(verdict|words)"'
