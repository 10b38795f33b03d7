# Cells of another memory and stream.
. "$TESTDATA/../tests/cli/words"
state=$TESTDATA/server/b0.7.0-library/lfm2-swa-multi-streams.raw
kvtool swap "$state" --memory 1 --stream 2 0 8 -o out
kvtool cells "$state" >before
kvtool cells out >after
diff before after || true
