# Killed at any moment: the old file is there or the whole new one, and nothing beside it.
. "$TESTDATA/../tests/cli/words"
kvtool swap -q "$several" 0 1 -o new
cp "$several" mine
for delay in 0 1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 25 30; do
  kvtool swap -q "$several" 0 1 -o mine --force &
  sleep "0.$(printf %03d $delay)"
  kill -9 $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  cmp -s mine "$several" || cmp -s mine new || echo "broken after $delay ms"
done
ls -A
