# One conversation after the other; the second never attended to the first.
. "$TESTDATA/../tests/cli/words"
model=$TESTDATA/models/llama.gguf
kvtool merge --append "$plain" "$plain" -m "$model" -o joined
kvtool seq ls joined
kvtool check joined
kvtool truncate -q joined 30 -o cut
kvtool merge --append --labels-only -q "$plain" "$plain" -o labels
kvtool diff joined labels --summary || true
