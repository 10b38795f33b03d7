# Nothing is printed.
. "$TESTDATA/../tests/cli/words"
try kvtool swap -q "$several" 10 25 -o out
try kvtool swap --quiet --force "$several" 10 25 --output out
ls
