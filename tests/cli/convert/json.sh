kvtool convert $TESTDATA/server/b0.7.0/prompt-only-llama.ggsq --cache-type-v f32 --json -o out.ggsq
kvtool convert $TESTDATA/server/b0.7.0/prompt-only-llama.ggsq -fa off --dry-run --json
