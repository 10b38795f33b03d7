# A folder in which nobody may write; root may, so /proc stands in for it.
. "$TESTDATA/../tests/cli/words"
try kvtool swap -q "$plain" 0 1 -o /proc/out 2>&1 | sed 's/: [A-Z][a-z ]*$/: (reason)/'
