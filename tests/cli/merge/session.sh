# Slot files side by side in a session; what they begin with in common, folded.
. "$TESTDATA/../tests/cli/words"
one=$TESTDATA/server/b0.7.0/chat-turn1.ggsq
two=$TESTDATA/server/b0.7.0/chat-turn2.ggsq
kvtool merge "$one" "$two" --renumber --arch llama -o session
kvtool seq ls session
kvtool merge "$one" "$two" --renumber -m "$TESTDATA/models/llama.gguf" --no-kv-unified -o streams
kvtool seq ls streams --tsv | cut -f 3-6
kvtool defrag --share session -o shared
kvtool seq ls shared
kvtool extract -q shared --seq 1 -o again
kvtool diff again "$two" --summary || true
kvtool merge "$one" "$two" --renumber --arch llama --json --dry-run
