# Files of ik_llama.cpp.
. "$TESTDATA/../tests/cli/words"
fork=$TESTDATA/server/ik_llama
try kvtool inspect "$fork/qwen35.ggsq"
try kvtool inspect "$fork/llama-f16.ggsn"
try kvtool check "$fork/llama-q8_KV.ggsq"
try kvtool swap "$fork/qwen35.ggsq" 3 30 -o once
try kvtool swap once 3 30 -o twice
same "$fork/qwen35.ggsq" twice
# What lies beside a file is named, and whether it goes with what was written.
cp "$fork"/llama-f16.ggsq* .
try kvtool truncate llama-f16.ggsq 10 --in-place
try kvtool swap llama-f16.ggsq 0 1 --in-place
try kvtool swap llama-f16.ggsq 0 1 -o moved.ggsq --json | grep -A 5 companions
# Without cells there are no states either, and the headers stay.
try kvtool seq rm "$fork/qwen35.ggsq" --pos 0:100 -q -o empty.ggsq
try kvtool inspect empty.ggsq | head -10
