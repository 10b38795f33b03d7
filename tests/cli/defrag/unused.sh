# Cells of no sequence are dropped; --stable does only that.
. "$TESTDATA/../tests/cli/words"
# The first cell loses its two ids: n_seq at 0x1e5 becomes 0, and the eight bytes behind it go.
session=$TESTDATA/history/v9-20250220-c392e5094-frag.ggsn
{ head -c $((0x1e5)) "$session"; head -c 4 /dev/zero; tail -c +$((0x1f1 + 1)) "$session"; } >unused
kvtool check unused || true
kvtool cells unused | cut -f 3,4,8 >before
kvtool defrag --stable unused -o stable
kvtool cells stable | cut -f 3,4,8 >after
tail -n +3 before | cut -f 2,3 >all-but-the-first
tail -n +2 after | cut -f 2,3 >what-is-left
same all-but-the-first what-is-left
kvtool defrag unused -o ordered
kvtool map --cells ordered | head -n 2
