# Tokens without cells, a negative position, a token that cannot be, a broken checkpoint.
. "$TESTDATA/../tests/cli/words"
# the token area of one file in front of the empty cache of another
empty=$TESTDATA/server/b0.7.0/erased-llama.ggsq
{ head -c 144 "$plain"; tail -c 8 "$empty"; } >no-cells
try kvtool check no-cells
cp "$plain" negative
poke negative 0x98 ff ff ff ff
try kvtool check negative
cp "$plain" token
poke token 0x18 fe ff ff ff
try kvtool check token
cp "$chat" checkpoint
poke checkpoint 0x32b0 00
try kvtool check checkpoint
