# No list in a bare state, no text without a vocabulary, one form at a time.
. "$TESTDATA/../tests/cli/words"
try kvtool tokens "$TESTDATA/modern/b11118/llama-simple.raw"
try kvtool tokens --text "$plain"
try kvtool tokens --text --vocab "$plain" "$plain"
try kvtool tokens --raw --media "$plain"
