# Three cells move back, the ones between move up.
. "$TESTDATA/../tests/cli/words"
kvtool move "$plain" 2 20 3 -o out
kvtool cells out | cut -f 3,4 | paste -s -d ' '
kvtool move out 20 2 3 -o back
same back "$plain"
