# A window cache, and the checkpoint that lets a server go back.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$chat"
