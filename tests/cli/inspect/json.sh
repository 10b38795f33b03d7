# Everything that the text tells, for programs.
. "$TESTDATA/../tests/cli/words"
kvtool inspect --json "$chat"
