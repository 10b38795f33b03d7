# A file that does not say whether its rows are rotated, and what has to be said.
. "$TESTDATA/../tests/cli/words"
try kvtool convert $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq -ctk f16 -ctv f16 -o a.ggsq
try kvtool convert $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq -ctk f16 -ctv f16 --rotation hadamard -o a.ggsq
kvtool convert $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq -ctk f16 -ctv f16 --rotation hadamard -m $TESTDATA/models/llama-h64.gguf -q -o a.ggsq
try kvtool diff $TESTDATA/modern/b11118/llamah64-fa-f16.seq0.ggsq a.ggsq --summary
try kvtool convert $TESTDATA/modern/b11118/llamah64-fa-f16.seq0.ggsq -ctk q8_0 -o b.ggsq
kvtool convert $TESTDATA/modern/b11118/llamah64-fa-f16.seq0.ggsq -ctk q8_0 --for 0.7.0 -m $TESTDATA/models/llama-h64.gguf -q -o b.ggsq
kvtool inspect b.ggsq | grep 'memory 0'
# The llama.cpp that wrote it says the same, unless it cannot have written it.
kvtool convert $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq -ctk f16 -ctv f16 --written-by b11118 -m $TESTDATA/models/llama-h64.gguf -q -o c.ggsq
try cmp a.ggsq c.ggsq
try kvtool convert $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq -ctk f16 -ctv f16 --written-by b4748 -o d.ggsq
try kvtool convert $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq -ctk f16 -ctv f16 --written-by tomorrow -o d.ggsq
