# A layout can be asked for by its name or the beginning of it.
. "$TESTDATA/../tests/cli/words"
kvtool inspect --layout ggsq4.streams.rot/iswa "$chat" | sed -n 2p
kvtool inspect --layout ggsq4 "$chat" | sed -n 2p
