# A slot of a server with three streams: two of them are empty.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/server/b0.7.0/np3-streams-slot1.ggsq"
