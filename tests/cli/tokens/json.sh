# Ids, words and media for programs.
. "$TESTDATA/../tests/cli/words"
kvtool tokens --json --raw "$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq"
