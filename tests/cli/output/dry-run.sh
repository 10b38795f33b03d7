# The exact size, and nothing written.
. "$TESTDATA/../tests/cli/words"
try kvtool swap "$chat" 0 1 --dry-run
try kvtool defrag "$chat" --dry-run -o out
kvtool swap --trailing drop <(cat "$chat"; echo more) 0 1 --dry-run | tail -n 1
ls
