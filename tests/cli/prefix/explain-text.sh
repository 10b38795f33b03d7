# In this vocabulary " a" is one token, or two bytes with a token each.
model="$TESTDATA/models/llama.gguf"
explain() { kvtool prefix --explain --vocab "$model" --around 1 "$@" || echo "status $?"; }
# the same text to the end
explain "101 35 100 250" "101 260 250"
# the same text for a while
echo "[101, 260, 251]" | explain "101,35,100,250" -
# another text
explain "101 104 106 108" '{"tokens": [101, 104, 120, 108]}'
