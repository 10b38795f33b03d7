kvtool diff $TESTDATA/modern/b11118/llama-multi-uni.ggsn $TESTDATA/modern/b11118/llama-multi-streams.ggsn --tsv
