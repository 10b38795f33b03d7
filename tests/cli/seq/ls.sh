# The sequences of a session and of a slot file, for people and for programs.
. "$TESTDATA/../tests/cli/words"
kvtool seq ls "$several"
kvtool seq ls "$chat" --tsv
kvtool seq ls "$several" --json | head -n 16
kvtool seq ls "$TESTDATA/modern/b11118/jamba-multi-streams.ggsn"
