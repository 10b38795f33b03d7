# A session of two sequences of a hybrid model.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/modern/b11118/jamba-multi-streams.ggsn"
