# Bare states of before August 2024: what they lack is told by a dump, a model or numbers.
. "$TESTDATA/../tests/cli/words"
old=$TESTDATA/history
state=$old/v7-20240728-e54c35e4f-plain-raw.raw
try kvtool inspect "$state"
try kvtool inspect "$state" --kv-shape 2x64
try kvtool cells "$state" --like "$old/v7-20240728-e54c35e4f-plain.ggsn" | head -4
try kvtool check "$state" --kv-shape 2x64
try kvtool inspect "$state" --model "$TESTDATA/models/llama.gguf" | head -2
try kvtool inspect "$state" --model "$TESTDATA/models/gemma3.gguf"
try kvtool inspect "$state" --model "$TESTDATA/models/jamba.gguf"
try kvtool inspect "$state" --kv-shape 2x
try kvtool inspect "$state" --kv-shape 2x --k-type f16 --v-type f16 | head -2
try kvtool inspect "$state" --kv-shape 64
try kvtool inspect "$state" --kv-shape 2x0
try kvtool swap "$state" 0 1 --kv-shape 2x64 -q -o swapped.raw
try kvtool swap swapped.raw 0 1 --kv-shape 2x64 -q -o back.raw
try cmp back.raw "$state"
try kvtool diff "$state" "$state" --kv-shape 2x64
try kvtool convert "$state" --kv-shape 2x64 --to ggsn:10 -q -o session.ggsn
try kvtool convert "$state" --model "$TESTDATA/models/llama.gguf" --to ggsn:10 -q -o session.ggsn
try kvtool convert "$state" --model "$TESTDATA/models/llama.gguf" --to ggsn:10 --drop outputs -q -o session.ggsn
try kvtool truncate "$state" 4 --kv-shape 2x64 --dry-run
# With a session as reference the sizes come from it, and it is the target of a conversion.
try kvtool check "$state" --like "$old/v7-20240728-e54c35e4f-plain.ggsn"
try kvtool check "$state" --model "$TESTDATA/models/llama.gguf"
try kvtool convert "$state" --like "$old/v7-20240728-e54c35e4f-plain.ggsn" -o july.ggsn
try kvtool check july.ggsn
try kvtool convert "$state" --kv-shape 2x64 --to ggsn:7 -o other.ggsn
# Types change in a bare state too.
try kvtool convert "$state" --kv-shape 2x64 -ctk q8_0 -q -o q8.raw
try kvtool check q8.raw --kv-shape 2x64 --k-type q8_0 --v-type f16
