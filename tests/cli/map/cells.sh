# A letter for each sequence; capitals are shared, dots are holes.
. "$TESTDATA/../tests/cli/words"
kvtool map --cells "$several"
