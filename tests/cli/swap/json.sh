# The figures for programs.
. "$TESTDATA/../tests/cli/words"
kvtool swap --json "$several" 10 25 -o out
