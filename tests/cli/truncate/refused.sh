# No tokens, too many, in an image, not allowed.
. "$TESTDATA/../tests/cli/words"
image=$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq
try kvtool truncate "$plain" -o out
try kvtool truncate "$plain" 5 --to-checkpoint 0 -o out
try kvtool truncate "$plain" 5000 -o out
try kvtool truncate "$plain" -1 -o out
try kvtool truncate "$plain" --to-checkpoint 0 -o out
try kvtool truncate "$chat" --to-checkpoint 7 -o out
try kvtool truncate "$image" 9 -o out
try kvtool truncate "$several" 5 -o out
try kvtool truncate "$chat" 20 -o out
try kvtool truncate "$chat" 33 --window 12 -o out
try kvtool truncate "$TESTDATA/modern/b11118/llama-simple.raw" 5 -o out
ls
