# No layout fits, and the error is that of the layout that the file was meant to have.
. "$TESTDATA/../tests/cli/words"
head -c 300 "$plain" >cut-in-cells
try kvtool inspect cut-in-cells
head -c 5000 "$chat" >cut-in-window
try kvtool inspect cut-in-window
cp "$plain" many
poke many 0x94 ff ff ff ff
try kvtool inspect many
