# Checkpoints are carried, and several memories are ordered each by itself.
. "$TESTDATA/../tests/cli/words"
kvtool move -q "$chat" 0 5 9 -o scattered
kvtool move -q scattered --memory 1 3 0 -o more
kvtool defrag more -o ordered
same ordered "$chat"
kvtool inspect more | grep '^tail'
