# What loaders take without a word: holes, repeated positions, cells of no sequence.
. "$TESTDATA/../tests/cli/words"
try kvtool check "$several"
cp "$plain" repeated
poke repeated 0x98 01
try kvtool check repeated
