# The state of a draft model in the tail; K rotated and quantized in another file.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/server/b0.7.0/llama-draft.ggsq" | grep -A 1 ^tail
kvtool inspect "$TESTDATA/server/b0.7.0/llamah64-q8_0-k-only.ggsq" | grep -A 1 ^memory
