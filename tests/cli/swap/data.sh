# Labels and data go together: what was the first row of K in layer 0 is the second now.
. "$TESTDATA/../tests/cli/words"
kvtool swap -q "$plain" 0 1 -o swapped
# row FILE N: the 128 bytes of row N of the K that begins at 0x210
row() { dd if="$1" bs=16 skip=$((0x21 + $2 * 8)) count=8 status=none; }
row "$plain" 0 >old-row-0
row swapped 0 >new-row-0
row swapped 1 >new-row-1
same old-row-0 new-row-1
same old-row-0 new-row-0
