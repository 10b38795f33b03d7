# Sessions of before August 2024 from a model file and options; version 0 in the memory of another.
. "$TESTDATA/../tests/cli/words"
new=$TESTDATA/modern/b11118/llama-simple.ggsn
model="-m $TESTDATA/models/llama.gguf"
old=$TESTDATA/history
try kvtool convert "$new" --to ggsn6.s124 -o a
try kvtool convert "$new" --to ggsn6.s124 $model -c 256 --seed 42 -o a
try kvtool check a
try kvtool convert "$new" --loader 2024-05-25 $model -c 256 --seed 42 --set logit_scale=0.5 -o b
try cmp a b
try kvtool convert a --to ggsn6.s124 --set logit_scale=0.5 -q -o c
try cmp b c
try kvtool convert "$new" --loader 2023-07-10 $model -o d
try kvtool convert "$new" --loader 2023-08-25 $model -o d
try kvtool convert "$new" --loader 2023-08-25 $model -c 64 --seed 42 --set rope_freq_base=10000 --set rope_freq_scale=1 --set logits_capacity=300 -o d
try kvtool convert "$new" --loader 2024-01-05 $model -c 64 -o d
try kvtool convert "$new" --loader 2024-01-05 $model -c 64 --seed 42 --set pool_size=1000 --set logits_capacity=300 -o d
try kvtool convert "$new" --loader 2024-01-05 $model -c 64 --seed 42 --set pool_size=32832 --set logits_capacity=300 -o d
try kvtool check d
try kvtool convert d --to ggsn:10 $model -q -o again
try kvtool diff "$new" again
try kvtool convert "$new" --loader 2023-08-25 $model -c 64 --seed 42 --set n_ctx=128 -o e
try kvtool convert "$new" --to ggsn6.s124 $model --set n_embd=32 -o e
try kvtool convert "$new" --to ggsn6.s124 $model --set n_mult=32 -o e
try kvtool convert "$new" --to ggsn6.s124 $model --set n_embd=many -o e
try kvtool convert "$new" --to ggsn6.s124 $model --set n_embd -o e
try kvtool convert "$new" --to ggsn6.s125 -o e
try kvtool convert "$new" --to ggsn:10 --set n_embd=64 -o e
try kvtool convert "$new" --to ggsn:10 --seed 42 -o e
pool=$old/v0-20230428-1481a9cf2-plain.ggsn.zst
try kvtool unpack "$pool" -q -o pool
try kvtool convert pool --to ggsn1.j32 -o f
try kvtool convert f --to ggsn:0 -o g
try kvtool convert f --like pool -o g
try cmp pool g
try kvtool convert f --like pool -c 128 -o h
try kvtool convert "$old/v1-20230502-e216aa046-kvf32-plain.ggsn.zst" --like pool -ctk f32 -ctv f32 -o h
try kvtool convert "$new" --like pool -o h
