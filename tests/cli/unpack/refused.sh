# What unpack does not do, and that it takes any zstd file.
. "$TESTDATA/../tests/cli/words"
try kvtool unpack "$chat" -o out
kvtool pack -q "$chat" -o chat.kvz
try kvtool unpack chat.kvz
try kvtool unpack --test chat.kvz | sed 's/^[0-9]* -> /N -> /'
zstd -q "$chat" -o chat.zst
try kvtool unpack -q chat.zst -o back
same back "$chat"
try kvtool unpack chat.zst -o back
