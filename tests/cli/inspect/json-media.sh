# Media spans, and the widths of transposed V.
. "$TESTDATA/../tests/cli/words"
kvtool inspect --json "$TESTDATA/modern/b11118/qwen2vl-slot-image.slot0.ggsq" | sed -n '/"tokens": {/,/^  }/p'
kvtool inspect --json "$TESTDATA/modern/b11118/llama-nofa-f16.ggsn" | grep -A 8 '"layers"'
