# Colours only where they are asked for: standard output is no terminal here.
. "$TESTDATA/../tests/cli/words"
kvtool map --cells --color always "$several" | head -n 3 | cat -v
kvtool map --cells --color auto "$several" | head -n 2 | cat -v
kvtool map --cells "$TESTDATA/server/b0.7.0/erased-llama.ggsq" | head -n 2
