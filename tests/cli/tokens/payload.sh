# What llama-server packs: the ids, the words as stored, the images.
. "$TESTDATA/../tests/cli/words"
image=$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq
kvtool tokens "$image" | paste -s -d ' '
kvtool tokens --raw "$image" | paste -s -d ' '
kvtool tokens --media "$image"
kvtool tokens --media "$plain"
