# Ranges for programs.
. "$TESTDATA/../tests/cli/words"
kvtool map --json "$TESTDATA/server/b0.7.0/erased-llama.ggsq"
