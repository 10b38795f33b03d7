# Behind the verb, a word is a file.
. "$TESTDATA/../tests/cli/words"
cp "$plain" check
kvtool inspect check | head -n 1
