# Files of ik_llama.cpp.
. "$TESTDATA/../tests/cli/words"
fork=$TESTDATA/server/ik_llama
try kvtool inspect "$fork/qwen35.ggsq"
try kvtool inspect "$fork/llama-f16.ggsn"
try kvtool check "$fork/llama-q8_KV.ggsq"
try kvtool swap "$fork/qwen35.ggsq" 3 30 -o once
try kvtool swap once 3 30 -o twice
same "$fork/qwen35.ggsq" twice
