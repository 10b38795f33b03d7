# The target is described by a file that it saved itself.
kvtool check "$TESTDATA/server/b0.7.0/gemma3.ggsq" --like "$TESTDATA/server/b0.7.0/gemma3-q8_0.ggsq" || echo "status $?"
kvtool check "$TESTDATA/server/b0.7.0/gemma3.ggsq" --like "$TESTDATA/server/b0.7.0/gemma3-2turns.ggsq"
