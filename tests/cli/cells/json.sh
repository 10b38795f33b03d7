# A line of JSON for each cell.
. "$TESTDATA/../tests/cli/words"
kvtool cells --json "$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq" | sed -n '7,9p;14p'
