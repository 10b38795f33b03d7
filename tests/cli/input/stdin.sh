# A dash is standard input, from a file or a pipe.
. "$TESTDATA/../tests/cli/words"
kvtool inspect - <"$plain" | head -n 1
cat "$plain" | kvtool check -
kvtool swap - 0 1 -o out <"$plain"
kvtool swap "$plain" 0 1 -o - | cmp - out && echo equal
