# Loaders of 2023 and 2024: what their files have besides K, V and cells comes from a dump of the target, and
# what they cannot hold is named.
. "$TESTDATA/../tests/cli/words"
old=$TESTDATA/history
today=$TESTDATA/modern/b11118
session6=$old/v6-20240719-be0cfb417-frag.ggsn
session7=$old/v7-20240728-e54c35e4f-plain.ggsn
# Which of its header structs, and then everything else.
try kvtool convert $today/llama-multi-uni.ggsn --to ggsn:6 -o a.ggsn
try kvtool convert $today/llama-multi-uni.ggsn --to ggsn:7 -o a.ggsn
try kvtool convert $today/llama-multi-uni.ggsn --like $session7 -o a.ggsn
try kvtool inspect a.ggsn | head -8
try kvtool convert a.ggsn --like $today/llama-multi-uni.ggsn -q -o back.ggsn
try cmp back.ggsn $today/llama-multi-uni.ggsn
# What one build saved is what the next one would have saved.
try kvtool convert $session6 --like $session7 -o b.ggsn
try kvtool convert b.ggsn --like $session6 -q -o back.ggsn --force
try cmp back.ggsn $session6
# A session with the header struct of the target needs no reference.
try kvtool convert $old/v5-20240326-557410b8f-outs-plain.ggsn --to ggsn:6 --ctx-size 128 -o c.ggsn
try kvtool convert $old/v5-20240326-557410b8f-outs-plain.ggsn --to ggsn:4 -o d.ggsn
try kvtool convert $old/v5-20240326-557410b8f-outs-plain.ggsn --to ggsn:4 --drop outputs -o d.ggsn
# One sequence in the order of its positions, or none.
session1=$old/v1-20230928-0512d6667-plain.ggsn.zst
try kvtool convert $today/llama-multi-uni.ggsn --like $session1 -o e.ggsn
try kvtool convert $today/llama-simple.ggsn --like $session1 -ctk q8_0 -o e.ggsn
try kvtool convert $today/llama-multi-uni.seq1.ggsq --like $session1 -o e.ggsn
try kvtool convert $today/llama-simple.seq0.ggsq --like $session1 --seq 3 --dry-run
try kvtool convert $today/llama-simple.ggsn --to ggsn:0 -o e.ggsn
# Types of K and V can change where the loader stays the same.
try kvtool convert $session6 -ctk q8_0 -o q8.ggsn
try kvtool convert $old/v2-20231101-c43c2da8a-plain.ggsn.zst -ctk f32 --dry-run
# Slot files came in April 2024.
try kvtool convert $today/llama-simple.seq0.ggsq --to ggsq:1 -o f.ggsq
try kvtool convert f.ggsq --like $today/llama-simple.seq0.ggsq -q -o back.ggsq
try cmp back.ggsq $today/llama-simple.seq0.ggsq
try kvtool convert $today/llama-fa-bf16.ggsn --to ggsq:1 -o g.ggsq
try kvtool convert $today/gemma3-swa.seq0.ggsq --to ggsq:1 -o g.ggsq
try kvtool convert $today/llama-simple.seq0.ggsq --for 4 -o g.ggsq
# What such loaders do with a file is not foretold, and their builds have no numbers here.
try kvtool check $session6 --to ggsn:6
try kvtool convert $session6 --for b3000 -o h.ggsn
try kvtool convert $session6 --for 2024-05-02 --dry-run
try kvtool convert $session6 --for 2023-03 --dry-run
