# Versions that are unknown, or that the rest of the file is not of.
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
try kvtool inspect "$TESTDATA/server/ik_llama/deepseek2-mha-mla1-no-fa.ggsq"
