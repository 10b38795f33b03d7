# A reader that goes away: a dump was not written, which is said as of any other output (2). Text for nobody ends kvtool
# as it ends other filters (128 + SIGPIPE), silently; a file it wrote is whole.
. "$TESTDATA/../tests/cli/words"
mkdir scratch
# late COMMAND...: runs it when nobody reads its output any more.
late() {
  local status
  { sleep 0.3; exec "$@"; } | true
  status=${PIPESTATUS[0]}
  echo "\$ $*"
  echo "= $status"
}
cp "$plain" mine
TMPDIR=scratch
export TMPDIR
late kvtool swap mine 0 1 -o -
late kvtool pack mine -o -
late kvtool convert mine --cache-type-k f32 -o -
late kvtool cells mine
late kvtool inspect --json mine
late kvtool swap mine 0 1 -o out
late kvtool swap mine 0 1 --in-place
kvtool swap -q "$plain" 0 1 -o expected
same out expected
same mine expected
kvtool cells mine | head -n 1
find . -type f | sort
