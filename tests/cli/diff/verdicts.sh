# One sentence, and the exit status.
. "$TESTDATA/../tests/cli/words"
b=$TESTDATA/modern/b11118
kvtool diff $b/llama-multi-uni.ggsn $b/llama-multi-uni.ggsn --summary
kvtool defrag -q $b/llama-multi-uni.ggsn -o tidy.ggsn
kvtool diff $b/llama-multi-uni.ggsn tidy.ggsn --summary
try kvtool diff $b/llama-fa-f32.ggsn $b/llama-fa-bf16.ggsn --summary
try kvtool diff $b/llama-fa-f32.ggsn $b/llama-fa-bf16.ggsn --summary --rel 0.01 --abs 0.02
try kvtool diff $b/llamah64-fa-f16.seq0.ggsq $b/llamah64-fa-q8_0.seq0.ggsq --summary
try kvtool diff $TESTDATA/server/b0.7.0/grow-turn1.ggsq $TESTDATA/server/b0.7.0/grow-turn2.ggsq --summary
try kvtool diff $TESTDATA/server/b0.7.0/llama-f16.ggsq $TESTDATA/server/b0.7.0/chat-turn1.ggsq --summary
try kvtool diff $b/llama-multi-uni.ggsn $b/mamba-multi.ggsn --summary
kvtool diff $b/llama-multi-uni.ggsn tidy.ggsn --quiet && echo "same"
