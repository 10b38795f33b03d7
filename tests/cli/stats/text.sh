kvtool stats $TESTDATA/modern/b11118/gemma3-multi-uni.ggsn
kvtool stats $TESTDATA/trained/h128-q8_0-256.ggsq
kvtool stats $TESTDATA/modern/b11118/llama-multi-streams.ggsn | cut -c 1-30
