# The examples in the manual pages, on files that have the names used there.
root=$(realpath "$TESTDATA/..")
cp "$TESTDATA/server/b0.7.0/gemma3.ggsq" chat.bin
cp "$TESTDATA/server/b0.7.0/erased-llama.ggsq" empty.bin
cp "$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq" image.bin
cp "$TESTDATA/modern/b11118/llama-multi-uni.ggsn" all.session
cp "$TESTDATA/history/v7-20240728-e54c35e4f-plain.ggsn" july.session
cp "$TESTDATA/models/llama.gguf" llama.gguf
mkdir slots
for turn in 1 2 3; do cp "$TESTDATA/server/b0.7.0/chat-turn$turn.ggsq" "slots/turn$turn.ggsq"; done
"$root/tests/cli/check-examples" "$root"/man/*.1 && echo "every example prints what its page says"
