# Cells that two sequences hold alike become one that names both.
. "$TESTDATA/../tests/cli/words"
kvtool extract -q "$several" --seq 1 -o one
kvtool extract -q "$several" --seq 2 -o two
kvtool merge -q one two --renumber --arch llama -o merged
kvtool defrag --share merged -o shared
kvtool map --cells shared | head -n 2
kvtool defrag --share shared --json --dry-run
try kvtool defrag --share one -o out
try kvtool defrag --tolerance 1 merged -o out
