# Every reason at once, the first one as the log will show it; exit status 1.
kvtool check "$TESTDATA/modern/b11118/llama-multi-streams.ggsn" --for 0.7.0 -np 1 -c 256 -ctk q8_0 -ctv q8_0 -fa off
