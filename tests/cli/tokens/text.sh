# Decoded with the vocabulary of the model.
. "$TESTDATA/../tests/cli/words"
kvtool tokens --text --vocab "$TESTDATA/gguf/trained-vocab.gguf" "$TESTDATA/trained/h128-q8_0-256.ggsq" | head -n 3
kvtool tokens --text --vocab "$TESTDATA/models/llama.gguf" --json "$plain" | tail -n 2
