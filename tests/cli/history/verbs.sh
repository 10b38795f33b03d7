# Verbs on files that lack what they are about, and on those of ik_llama.cpp.
. "$TESTDATA/../tests/cli/words"
old=$TESTDATA/history
fork=$TESTDATA/server/ik_llama
lost=$old/v3-20231207-bcc0eb459-shift-pending.ggsn.zst
try kvtool cells "$lost" | head -4
try kvtool cells --json "$lost" | head -2
try kvtool seq keep "$lost" 0 -o a
try kvtool extract "$lost" --seq 0 -o a
try kvtool extract "$old/v4-20240303-87c2e8b27-frag.ggsn" --seq 1 -o a
try kvtool convert "$old/v4-20240303-87c2e8b27-frag.ggsn" --to ggsq:3 --seq 1 --drop outputs -q -o a
try kvtool extract "$fork/llama-f16.ggsn" --seq 0 -o b
try kvtool inspect b | head -4
try kvtool extract "$fork/deepseek2-mla3.ggsn" --seq 0 -q -o c
try kvtool check c
try kvtool stats "$fork/llama-q8_KV.ggsq"
try kvtool inspect "$fork/llama-q8_KV.ggsq"
try kvtool swap "$fork/llama-q8_KV.ggsq" 2 7 -o a
try kvtool convert "$fork/llama-q8_KV.ggsq" --flash-attn off -o a
try kvtool convert "$fork/llama-q8_KV.ggsq" --for 0.7.0 -ctk f16 -o a
try kvtool convert "$fork/llama-q8_KV.ggsq" --for 0.7.0 -ctk f16 --drop cells -o a
try kvtool convert "$fork/llama-q8_KV.ggsq" --for 0.7.0 -ctk f16 --drop cells --rotation none -o k
try kvtool check k
# Whether K and V are rotated is said by the user, and shown by the values.
rotated=$fork/llamah64-q8_0-khad.ggsq
try kvtool check --deep "$rotated"
try kvtool convert "$rotated" --for 0.7.0 -ctk f16 -ctv f16 -o a
try kvtool convert "$rotated" --for 0.7.0 -ctk f16 -ctv f16 --rotation hadamard -o a
try kvtool convert "$rotated" --for 0.7.0 -ctk f16 -ctv f16 --rotation hadamard --model "$TESTDATA/models/llama-h64.gguf" -o h
try kvtool diff h "$fork/llamah64-q8_0.ggsq"
try kvtool check "$fork/qwen35.ggsq"
kvtool convert "$old/v6-20240528-edc29433f-plain.ggsn" --set n_ff=97 -q -o d
try kvtool diff "$old/v6-20240528-edc29433f-plain.ggsn" d
mamba=$old/v6-20240629-1c5eba6f8-mamba-plain.ggsn
try kvtool convert "$mamba" --like "$mamba" -o e
same "$mamba" e
try kvtool convert "$mamba" --flash-attn on -o f
try cmp "$mamba" f
try kvtool defrag "$old/v6-20240430-9c67c2773-frag.ggsn" -q -o i
try kvtool diff "$old/v6-20240430-9c67c2773-frag.ggsn" i
try kvtool defrag "$old/v0-20230428-1481a9cf2-plain.ggsn.zst" -o g
gqa=$old/v1-20230723-e76d630df-gqa-plain.ggsn.zst
try kvtool convert "$gqa" --like "$gqa" -o h
raw=$old/v4-20240113-df845cc98-plain-raw.raw
try kvtool pack "$raw" -q -o raw.kvz
try kvtool pack "$raw" --kv-shape 2x64 -q -o raw.kvz
try kvtool check --kv-shape 2x64 raw.kvz
try kvtool unpack raw.kvz -q -o raw
same "$raw" raw
try kvtool pack "$fork/llama-empty.ggsq" -o empty.kvz | tail -2
