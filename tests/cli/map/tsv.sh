# Columns, and their sum is the size of the file.
. "$TESTDATA/../tests/cli/words"
kvtool map --tsv "$chat" | head -n 3
kvtool map --tsv "$chat" | awk '{ sum += $2 } END { print sum }'
stat -L -c %s "$chat"
