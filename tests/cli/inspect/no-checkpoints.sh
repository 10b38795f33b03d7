# A window without checkpoints: restored with success, and then computed again.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/modern/clients/node-llama-cpp-3.19.1.gemma3.ggsq" | tail -n 1
