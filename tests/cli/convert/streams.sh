kvtool convert $TESTDATA/modern/b11118/llama-multi-uni.ggsn --no-kv-unified --parallel 3 -o streams.ggsn
cmp streams.ggsn $TESTDATA/modern/b11118/llama-multi-streams.ggsn && echo "llama.cpp's own bytes"
kvtool convert streams.ggsn --kv-unified -o unified.ggsn
kvtool diff unified.ggsn $TESTDATA/modern/b11118/llama-multi-uni.ggsn --summary
