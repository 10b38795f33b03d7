# Bytes behind a state: refused, carried, or left out.
. "$TESTDATA/../tests/cli/words"
{ cat "$plain"; echo more; } >longer
kvtool swap longer 0 0 -o out 2>/dev/null || echo "refused: $?"
ls
try kvtool swap --trailing keep longer 0 0 -o kept
same kept longer
try kvtool swap --trailing drop longer 0 0 -o dropped
same dropped "$plain"
kvtool inspect --trailing keep longer | tail -n 2
try kvtool check --trailing keep longer
