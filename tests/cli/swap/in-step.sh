# An index cache names cells of the other cache by their place, so both change.
. "$TESTDATA/../tests/cli/words"
sparse=$TESTDATA/modern/b11118/dsa-deepseek32.ggsn
kvtool swap "$sparse" 0 11 -o out
kvtool cells "$sparse" >before
kvtool cells out >after
diff before after || true
