# Compressed dumps are unpacked in every verb, also from a pipe.
. "$TESTDATA/../tests/cli/words"
zstd -q "$chat" -o packed.zst
kvtool inspect packed.zst | grep -o '^packed *zstd'
kvtool inspect packed.zst | sed '/^packed /d' >packed
kvtool inspect "$chat" >unpacked
sed -i '1s/^[^:]*//' packed unpacked
same packed unpacked
cat packed.zst | kvtool tokens - | head -n 2
kvtool swap packed.zst 0 0 -o out
same out "$chat"
head -c 3000 packed.zst >broken.zst
try kvtool inspect broken.zst
