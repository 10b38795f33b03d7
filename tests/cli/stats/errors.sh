. "$TESTDATA/../tests/cli/words"
try kvtool stats missing.ggsq
try kvtool stats $TESTDATA/server/b0.7.0/mamba.ggsq --json --heat
try kvtool stats $TESTDATA/server/b0.7.0/mamba.ggsq --heat --width 3
kvtool stats $TESTDATA/server/b0.7.0/erased-llama.ggsq
