# What a bare state does not have is null.
. "$TESTDATA/../tests/cli/words"
kvtool inspect --json "$TESTDATA/modern/b11118/llama-simple.raw" | head -n 30
