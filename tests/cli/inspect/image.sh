# An image among the tokens, and cells that say where they are in it.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq"
