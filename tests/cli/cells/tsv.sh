# Columns are the default; the tokens of a list of its own sequence are certain.
. "$TESTDATA/../tests/cli/words"
kvtool cells "$plain" | head -n 4
kvtool cells "$plain" >default
kvtool cells --tsv "$plain" >tsv
same default tsv
