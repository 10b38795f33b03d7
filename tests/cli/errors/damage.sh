# Where a file stops making sense: offset, field, expected, found.
. "$TESTDATA/../tests/cli/words"
head -c 100 "$plain" >cut-in-tokens
try kvtool inspect cut-in-tokens
head -c 9000 "$plain" >cut-in-v
try kvtool inspect cut-in-v
cp "$plain" type
poke type 0x204 63
try kvtool inspect type
cp "$plain" row
poke row 0x204 02
try kvtool inspect row
try kvtool swap row 0 1 -o out
ls
