# Which entry to take for a prompt, and which never: of another model, or of nobody knows which.
. "$TESTDATA/../tests/cli/words"
export SOURCE_DATE_EPOCH=1790000000 KVTOOL_STORE=caches
turn() { echo "$TESTDATA/server/b0.7.0/chat-turn$1.ggsq"; }
model=$TESTDATA/models/llama.gguf
kvtool store init
try kvtool store best --tokens "$(turn 3)"
kvtool store put -q one "$(turn 1)"
kvtool store put -q two "$(turn 2)" --model "$model"
kvtool store best --tokens "$(turn 3)"
kvtool store best --tokens "$(turn 3)" --top 0 --tsv
kvtool store best --tokens "$(turn 1)" --json | grep -v queries
try kvtool store best --tokens "$(turn 3)" --model "$model"
try kvtool store best --tokens "$(turn 3)" --model "$TESTDATA/models/gemma3.gguf"
try kvtool store best --tokens "$(turn 3)" --like "$chat"
kvtool store best --tokens "$(turn 3)" --like "$plain" | head -n 1
try kvtool store get two --model "$TESTDATA/models/gemma3.gguf" -o out
try kvtool store get one --model "$model" -o out
try kvtool store get two --model "$model" -o out
