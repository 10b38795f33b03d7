# K turns with the position: there and back, in steps, and with --close.
. "$TESTDATA/../tests/cli/words"
model=$TESTDATA/models/llama.gguf
rotated=$TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq
kvtool seq shift "$plain" --by 10 -m "$model" -o there
kvtool seq shift there --by -10 -m "$model" -o back
kvtool diff "$plain" back --abs 0.02 --summary
kvtool seq shift -q "$plain" --by 4 --by 3 --by 3 -m "$model" -o steps
same there steps
kvtool seq shift -q "$plain" --by 10 --rope-pairs norm --rope-freq-base 10000 --head-size 32 -o given
same there given
kvtool seq shift -q "$plain" --by 10 --labels-only -o labels
kvtool diff there labels --summary || true
kvtool seq rm "$plain" --pos 5:8 --pos 12: --close -m "$model" -o closed
kvtool seq ls closed
kvtool check closed
# rotated blocks are turned back first, by the size of the heads
kvtool seq shift -q "$rotated" --by 10 -m "$TESTDATA/models/llama-h64.gguf" --rotation hadamard -o by-model
kvtool seq shift -q "$rotated" --by 10 --rope-pairs norm --rope-freq-base 10000 --head-size 64 --rotation hadamard -o by-size
same by-model by-size
