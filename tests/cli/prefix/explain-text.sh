# In this vocabulary " cat" is one token, or four bytes with a token each.
model="$TESTDATA/models/llama.gguf"
explain() { kvtool prefix --explain --vocab "$model" --around 1 "$@" || echo "status $?"; }
# the same text to the end
explain "101 35 102 100 119 250" "101 260 250"
# the same text for a while
explain "101 35 102 100 119 250" "[101, 260, 251]"
# another text
explain "101 104 106 108" '{"tokens": [101, 104, 120, 108]}'
