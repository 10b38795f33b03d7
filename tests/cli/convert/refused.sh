# What a target cannot have.
. "$TESTDATA/../tests/cli/words"
try kvtool convert $TESTDATA/modern/b11118/llama-nofa-f16.ggsn -ctv q8_0 -o out.ggsn
try kvtool convert $TESTDATA/modern/b11118/llama-multi-uni.ggsn --no-kv-unified --parallel 2 -o out.ggsn
try kvtool convert $TESTDATA/history/v9-20250220-c392e5094-frag.ggsn --for 8/2 -o out.ggsn
try kvtool convert $TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq --tokens plain -o out.ggsq
try kvtool convert $TESTDATA/modern/b11118/llama-simple.ggsn -ctk q6_0 -o out.ggsn
try kvtool convert $TESTDATA/modern/b11118/llama-simple.ggsn --to gguf -o out.ggsn
try kvtool convert $TESTDATA/modern/b11118/llama-simple.ggsn --strip cells -o out.ggsn
