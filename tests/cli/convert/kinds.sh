# Session to slot file and slot file to session.
. "$TESTDATA/../tests/cli/words"
try kvtool convert $TESTDATA/modern/b11118/llama-multi-uni.ggsn --to ggsq -o one.ggsq
kvtool convert $TESTDATA/modern/b11118/llama-multi-uni.ggsn --to ggsq --seq 1 -o one.ggsq
try kvtool convert $TESTDATA/modern/b11118/llama-simple.seq0.ggsq --to ggsn -o simple.ggsn
kvtool convert $TESTDATA/modern/b11118/llama-simple.seq0.ggsq --like $TESTDATA/modern/b11118/llama-simple.ggsn -o simple.ggsn
cmp simple.ggsn $TESTDATA/modern/b11118/llama-simple.ggsn && echo "llama.cpp's own bytes"
