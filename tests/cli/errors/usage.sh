# What makes no sense, with the nearest word that does.
. "$TESTDATA/../tests/cli/words"
try kvtool
try kvtool swpa "$plain" 1 2
try kvtool defragment "$plain"
try kvtool inspect --jsno "$plain"
try kvtool inspect
try kvtool inspect "$plain" "$chat"
try kvtool swap "$plain" 1
try kvtool swap "$plain" one 2 -o out
try kvtool swap "$plain" -1 2 -o out
try kvtool swap "$plain" 1 4294967296 -o out
try kvtool cells --seq one "$plain"
try kvtool cells --pos 5 "$plain"
try kvtool cells --pos a:b "$plain"
try kvtool map --width 1 --cells "$plain"
try kvtool map --cells --json "$plain"
try kvtool inspect --trailing maybe "$plain"
try kvtool completion tcsh
try kvtool help swpa
