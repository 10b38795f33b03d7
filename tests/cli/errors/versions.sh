# Versions that are unknown, too old, or of another family.
. "$TESTDATA/../tests/cli/words"
cp "$plain" new
poke new 4 63 00 00 00
try kvtool inspect new
poke new 4 01
try kvtool inspect new
cp "$several" session
poke session 4 07
try kvtool inspect session
poke session 4 0c
try kvtool inspect session
try kvtool inspect "$TESTDATA/server/ik_llama/llama-f16.ggsq"
try kvtool inspect "$TESTDATA/server/ik_llama/llama-f16.ggsn"
try kvtool inspect "$TESTDATA/server/ik_llama-v3/qwen2vl.ggsq"
