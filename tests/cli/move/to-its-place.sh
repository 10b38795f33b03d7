# Where it is already: the same file.
. "$TESTDATA/../tests/cli/words"
kvtool move "$plain" 5 5 4 -o out
same out "$plain"
