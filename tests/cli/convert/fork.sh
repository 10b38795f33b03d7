# ik_llama.cpp: the same magics, other words around the same K and V.
. "$TESTDATA/../tests/cli/words"
fork=$TESTDATA/server/ik_llama
today=$TESTDATA/modern/b11118
try kvtool convert $fork/llama-f16.ggsq --for 9/2-flat -o a.ggsq
try kvtool convert a.ggsq --for ik_llama.cpp -o b.ggsq
try cmp b.ggsq $fork/llama-f16.ggsq
try kvtool convert $today/llama-simple.seq0.ggsq --for ik-9/3 -o c.ggsq
try kvtool inspect c.ggsq | head -3
try kvtool convert c.ggsq --like $today/llama-simple.seq0.ggsq -q -o d.ggsq
try cmp d.ggsq $today/llama-simple.seq0.ggsq
# Sessions of the fork have the generator's text at all versions.
try kvtool convert $today/llama-simple.ggsn --for ik_llama.cpp -o e.ggsn
try kvtool convert $today/llama-simple.ggsn --like $fork/llama-f16.ggsn -o e.ggsn
try kvtool convert $fork/llama-f16.ggsn --for ik-9/3 -o f.ggsn
# From one of its versions to another, as far as that has the words.
try kvtool convert $fork/qwen35.ggsq --for ik-9/3 -o g.ggsq
try kvtool convert g.ggsq --for ik-10/4 -q -o h.ggsq
try cmp h.ggsq $fork/qwen35.ggsq
try kvtool convert $fork/qwen35.ggsq --for ik-8/2 -o i.ggsq
# Windows and states are other memories there.
try kvtool convert $today/gemma3-swa.seq0.ggsq --for ik_llama.cpp -o j.ggsq
try kvtool convert $fork/llama-f16.ggsq --to ggsq:3 --for ik_llama.cpp -o j.ggsq
try kvtool check $fork/llama-f16.ggsq --for ik_llama.cpp
