# The file itself is replaced, and keeps its permissions.
. "$TESTDATA/../tests/cli/words"
cp "$plain" mine
chmod 640 mine
kvtool swap --in-place mine 0 1
same mine "$plain"
kvtool swap --in-place mine 0 1 --json | head -n 4
same mine "$plain"
stat -c %a mine
ls
