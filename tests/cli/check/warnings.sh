# A warning fails only a strict check.
. "$TESTDATA/../tests/cli/words"
lost=$TESTDATA/server/b0.7.0/erased-llama.ggsq
try kvtool check "$lost"
try kvtool check --strict "$lost"
try kvtool check --strict -q "$lost"
try kvtool check --strict --json "$lost"
