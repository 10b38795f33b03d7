# Nothing is overwritten or put in two places, and what cannot be written leaves nothing.
. "$TESTDATA/../tests/cli/words"
cp "$plain" mine
echo precious >there
try kvtool swap mine 0 1
try kvtool swap mine 0 1 -o out --in-place
try kvtool swap mine 0 1 -o there
cat there
try kvtool swap mine 0 1 -o there --force
try kvtool swap mine 0 1 -o nowhere/out
try kvtool swap mine 0 1 -o . --force
try kvtool swap - 0 1 --in-place <mine
zstd -q mine -o mine.zst
try kvtool swap mine.zst 0 1 --in-place
same mine "$plain"
ls
