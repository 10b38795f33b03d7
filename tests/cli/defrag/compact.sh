# The other name of the verb, and its figures for programs.
. "$TESTDATA/../tests/cli/words"
kvtool compact --json "$TESTDATA/history/v9-20250220-c392e5094-frag.ggsn" --dry-run
