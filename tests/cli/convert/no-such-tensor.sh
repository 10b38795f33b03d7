# What was asked for and no tensor of the file can have is told, whatever becomes of the figures.
states=$TESTDATA/modern/b11118/mamba-multi.ggsn
without_v=$TESTDATA/modern/b11118/ds2mla.ggsn
kvtool convert "$states" -ctk q8_0 -o out.ggsn
cmp "$states" out.ggsn
kvtool convert "$states" -q -ctk q8_0 -ctv q8_0 -o - >/dev/null
kvtool convert "$states" -ctk q8_0 --dry-run --json | grep -A 2 '"warnings"'
kvtool convert "$without_v" -ctv q8_0 --dry-run
# What such a model wants: one type for both. And a file with both has nothing to warn of.
kvtool convert "$without_v" -ctk q8_0 -ctv q8_0 --no-rotation --dry-run
kvtool convert "$TESTDATA/modern/b11118/jamba.ggsn" -ctk f32 --dry-run
