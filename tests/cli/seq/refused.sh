# What is refused says why; nothing is written, and the input stays as it was.
. "$TESTDATA/../tests/cli/words"
image=$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq
jamba=$TESTDATA/modern/b11118/jamba.ggsn
rotated=$TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq
cp "$several" before
try kvtool seq
try kvtool seq mv "$several"
try kvtool seq rm "$several" -o out
try kvtool seq rm "$several" --pos 5:5 -o out
try kvtool seq rm "$several" --pos x -o out
try kvtool seq rm "$several" --seq 7 -o out
try kvtool seq rm "$several" --seq 1
try kvtool seq rm "$several" --closee --seq 1 -o out
try kvtool seq rm "$jamba" --pos 5: -o out
try kvtool seq rm "$chat" --pos 20: -o out
try kvtool seq rm "$chat" --pos 33: --window 12 -o out
try kvtool seq rm "$image" --pos 8: -o out
try kvtool seq rm "$plain" --pos 2:4 --close -o out
try kvtool seq cp "$several" 0 1 -o out
try kvtool seq cp "$plain" 0 1 -o out
try kvtool seq keep "$several" 9 -o out
try kvtool seq rename "$several" 0 1 -o out
try kvtool seq shift "$several" --seq 0 --by -1 --labels-only -o out
try kvtool seq shift "$several" --seq 0 --pos 12:14 --by 2 --labels-only -o out
try kvtool seq shift "$plain" --by 9999999999 --labels-only -o out
try kvtool seq shift "$plain" --by 3 -o out
try kvtool seq shift "$plain" --by 3 --rope-pairs neox --rope-freq-base 0 --head-size 32 -o out
try kvtool seq shift "$plain" --by 3 --rope-pairs neox --rope-freq-base 1e4 --head-size 48 -o out
try kvtool seq shift "$rotated" --by 3 -m "$TESTDATA/models/llama-h64.gguf" -o out
# a model that cannot be the file's, by its name or by its layers
try kvtool seq shift "$several" --by 3 -m "$TESTDATA/models/gemma3.gguf" -o out
try kvtool seq shift "$rotated" --by 3 -m "$TESTDATA/models/deepseek2-mla.gguf" --rotation none -o out
try kvtool seq shift "$rotated" --by 3 -m "$TESTDATA/models/gemma3.gguf" --rotation none -o out
# an index that holds keys of whole blocks
try kvtool seq shift "$TESTDATA/server/b0.7.0/qwen4exp.ggsq" --by 4 -m "$TESTDATA/models/qwen4exp.gguf" -o out
ls
same before "$several"
