# Figures that arithmetic knows. K of layer 0: a cell of zeros, then 2 everywhere; K of layer 1: 1 but for a NaN and an
# infinity; V of layer 0: -1, and 8 in channel 5. V of layer 1 is 0.5.
. "$TESTDATA/../tests/cli/words"
fill() { for ((i = 0; i < $2; ++i)); do printf "$3"; done | dd of=made.ggsn bs=4096 seek="$(($1))" oflag=seek_bytes conv=notrunc status=none; }
cp "$TESTDATA/modern/b11118/llama-fa-f32.ggsn" made.ggsn
fill 0x131 64 '\x00\x00\x00\x00'
fill 0x231 960 '\x00\x00\x00\x40'
fill 0x113d 1024 '\x00\x00\x80\x3f'
poke made.ggsn 0x113d 00 00 c0 7f 00 00 80 ff
fill 0x2149 1024 '\x00\x00\x80\xbf'
for ((cell = 0; cell < 16; ++cell)); do poke made.ggsn $((0x2149 + 256 * cell + 20)) 00 00 00 41; done
fill 0x3155 1024 '\x00\x00\x00\x3f'
kvtool stats made.ggsn
kvtool stats made.ggsn --tsv
kvtool stats made.ggsn --json
kvtool stats made.ggsn --heat --width 16
kvtool stats made.ggsn --svg made.svg | cmp - /dev/null
cat made.svg
# a file name that XML could not hold
cp made.ggsn $'<a&b\x01>.ggsn'
kvtool stats $'<a&b\x01>.ggsn' --svg odd.svg
grep '&lt;' odd.svg
