# To the front, one cell unless a number is given.
. "$TESTDATA/../tests/cli/words"
kvtool move "$plain" 28 0 -o out
kvtool cells out | cut -f 4 | paste -s -d ' '
kvtool move --json "$plain" 28 0 --dry-run
