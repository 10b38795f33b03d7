# NaN in a tensor is found only by reading it.
. "$TESTDATA/../tests/cli/words"
cp "$plain" nan
poke nan 0x210 00 7e
try kvtool check nan
try kvtool check --deep nan
try kvtool check --deep --json nan
