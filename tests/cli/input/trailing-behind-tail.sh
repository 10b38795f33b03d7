# The same behind the checkpoints of a server.
. "$TESTDATA/../tests/cli/words"
{ cat "$chat"; echo more; } >longer
kvtool swap longer 0 0 -o out 2>/dev/null || echo "refused: $?"
try kvtool swap --trailing keep longer 0 0 -o kept
same kept longer
try kvtool swap --trailing drop longer 0 0 -o dropped
same dropped "$chat"
