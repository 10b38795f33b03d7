# Files of other kinds, by name where they are known.
. "$TESTDATA/../tests/cli/words"
try kvtool inspect "$TESTDATA/models/llama.gguf"
echo "Dear diary, today" >text
try kvtool inspect text
cp "$plain" swapped
poke swapped 0 67 67 73 71
try kvtool inspect swapped
gzip -n <"$plain" >packed.gz
try kvtool inspect packed.gz
