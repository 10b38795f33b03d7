cd "$TESTDATA/server/b0.7.0"
kvtool prefix --explain --around 2 chat-turn1.ggsq chat-turn2.ggsq && echo "no difference" || echo "status $?"
# a strict prefix
kvtool prefix --explain --around 1 grow-turn1.ggsq grow-turn2.ggsq || echo "status $?"
# the same
kvtool prefix --explain grow-turn1.ggsq grow-turn1.ggsq
# the same tokens in caches of another kind
kvtool prefix --explain --around 0 gemma3.ggsq llama-f16.ggsq || echo "status $?"
