# Cells, streams and memories that do not exist.
. "$TESTDATA/../tests/cli/words"
try kvtool swap "$chat" 0 34 -o out
try kvtool swap "$chat" 4294967295 0 -o out
try kvtool swap "$chat" --memory 1 0 12 -o out
try kvtool swap "$chat" --memory 2 0 0 -o out
try kvtool swap "$chat" --stream 1 0 0 -o out
try kvtool move "$chat" 0 33 2 -o out
try kvtool move "$chat" 30 0 5 -o out
try kvtool move "$chat" 0 1 0 -o out
try kvtool move "$chat" 1 2 4294967295 -o out
ls
