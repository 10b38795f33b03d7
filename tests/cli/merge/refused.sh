# Files that do not fit together: what is different, and the conversion that helps.
. "$TESTDATA/../tests/cli/words"
cp "$plain" a.ggsq
cp "$TESTDATA/server/b0.7.0/llamah64-q8_0-k-only.ggsq" h64.ggsq
cp "$TESTDATA/modern/b11118/llama-simple.seq0.ggsq" older.ggsq
cp "$TESTDATA/server/b0.7.0/jamba.ggsq" jamba.ggsq
cp "$several" several.ggsn
try kvtool merge -o out
try kvtool merge a.ggsq a.ggsq -o out
try kvtool merge a.ggsq a.ggsq --renumber -o out
try kvtool merge a.ggsq a.ggsq --arch llama -o out
try kvtool merge a.ggsq older.ggsq --renumber --arch llama -o out
try kvtool merge a.ggsq h64.ggsq --renumber --arch llama -o out
try kvtool merge a.ggsq jamba.ggsq --renumber --arch llama -o out
try kvtool merge jamba.ggsq jamba.ggsq --arch jamba -o out
try kvtool merge --append jamba.ggsq jamba.ggsq --labels-only -o out
try kvtool merge --append a.ggsq a.ggsq -o out
try kvtool merge --append --renumber a.ggsq a.ggsq -o out
try kvtool merge --append several.ggsn several.ggsn --labels-only -o out
ls
