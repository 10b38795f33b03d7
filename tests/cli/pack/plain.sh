# --plain takes any file, and any zstd restores it.
. "$TESTDATA/../tests/cli/words"
kvtool pack --plain "$chat" -o chat.zst | sed 's/> [0-9]* bytes.*/> N bytes/'
zstd -q -d -c chat.zst | cmp - "$chat" && echo "zstd restores it"
kvtool unpack -q chat.zst -o - | cmp - "$chat" && echo "unpack, too"
kvtool inspect chat.zst | sed -n 2p | sed 's/, .*//'
yes text | head -n 1000 >text
try kvtool pack text -o out
kvtool pack -q --plain text -o text.zst
zstd -q -d -c text.zst | cmp - text && echo "text as well"
kvtool pack -q --plain /dev/null -o empty.zst
zstd -q -d -c empty.zst | wc -c
try kvtool pack --plain --base "$chat" text -o out
