# Old sessions and those of ik_llama.cpp for loaders of llama.cpp of today.
. "$TESTDATA/../tests/cli/words"
old=$TESTDATA/history
to="--to ggsn:10 --model $TESTDATA/models/llama.gguf"
try kvtool convert "$old/v6-20240430-9c67c2773-fa-frag.ggsn" $to -o new
try kvtool convert "$old/v6-20240430-9c67c2773-fa-frag.ggsn" $to --drop outputs -o new
try kvtool inspect new
try kvtool convert "$old/v2-20231207-81bc9214a-shift-applied.ggsn.zst" $to --drop outputs -o lost
try kvtool convert "$old/v2-20231207-81bc9214a-shift-applied.ggsn.zst" $to --drop outputs,cells -o lost
try kvtool convert "$old/v1-20230723-e76d630df-gqa-plain.ggsn.zst" $to --drop outputs -o scrambled
try kvtool convert "$old/v7-20240728-e54c35e4f-fa-frag-seq1.ggsq" --to ggsq:3 -o slot
try kvtool inspect slot
fork=$TESTDATA/server/ik_llama
try kvtool convert "$fork/llama-f16.ggsq" --to ggsq:3 -o plain
try kvtool check plain
try kvtool convert "$fork/qwen35.ggsq" --to ggsq:3 -o hybrid
try kvtool convert "$fork/llama-q6_0.ggsq" --to ggsq:3 -o other
try kvtool convert "$fork/llama-q6_0.ggsq" --to ggsq:3 --cache-type-k f16 --cache-type-v f16 --rotation none -o other
try kvtool convert "$fork/llama-f16.ggsq" --to ggsn:10 -o session
