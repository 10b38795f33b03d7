# More cells than characters; several memories and streams.
. "$TESTDATA/../tests/cli/words"
kvtool map --cells --width 8 "$TESTDATA/server/b0.7.0-library/lfm2-swa-multi-streams.raw" | head -n 16
