# Three sequences, two of them with holes.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$several"
