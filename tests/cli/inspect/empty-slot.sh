# What is left of a chat when the slot was empty at the time it was saved.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/server/b0.7.0/erased-llama.ggsq"
