# Figures that arithmetic knows: K of layer 0 is 2 in one file and 2.5 in the other, K of layer 1 is 0 and 1, and one of
# the ones in V of layer 1 is NaN.
. "$TESTDATA/../tests/cli/words"
fill() { for ((i = 0; i < $3; ++i)); do printf "$4"; done | dd of="$1" bs=4096 seek="$2" oflag=seek_bytes conv=notrunc status=none; }
cp "$TESTDATA/modern/b11118/llama-fa-f32.ggsn" a.ggsn
fill a.ggsn $((0x131)) 1024 '\x00\x00\x00\x40'
fill a.ggsn $((0x113d)) 1024 '\x00\x00\x00\x00'
fill a.ggsn $((0x3155)) 1024 '\x00\x00\x80\x3f'
cp a.ggsn b.ggsn
fill b.ggsn $((0x131)) 1024 '\x00\x00\x20\x40'
fill b.ggsn $((0x113d)) 1024 '\x00\x00\x80\x3f'
poke b.ggsn 0x3155 00 00 c0 7f
try kvtool diff a.ggsn b.ggsn --top 1
try kvtool diff a.ggsn b.ggsn --tsv
try kvtool diff a.ggsn b.ggsn --json --pos 0:4 --per-position --top 1
try kvtool diff a.ggsn b.ggsn --abs 0.5 --layers 0:1 --json
try kvtool diff a.ggsn b.ggsn --abs 0.49 --layers 0:1 --tsv
# NaN in both at one place is in no figure, and is told.
poke a.ggsn 0x3159 00 00 c0 7f
poke b.ggsn 0x3159 00 00 c0 7f
try kvtool diff a.ggsn b.ggsn --top 0
