kvtool stats $TESTDATA/server/b0.7.0/lfm2.ggsq --tsv | cut -f 1-9,12-
