# A bare state of three streams, of a hybrid with a window.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/server/b0.7.0-library/lfm2-swa-multi-streams.raw"
