# The first tokens, their cells, and what of the tail still holds.
. "$TESTDATA/../tests/cli/words"
kvtool truncate "$plain" 10 -o short
kvtool tokens short | tail -n 1
kvtool truncate "$TESTDATA/server/b0.7.0/gemma3-2turns.ggsq" 30 --window 12 -o back || true
kvtool truncate "$TESTDATA/server/b0.7.0/gemma3-2turns.ggsq" 50 -m "$TESTDATA/models/gemma3.gguf" --json -o forth
