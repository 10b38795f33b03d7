kvtool prefix --extract -o common.ggsq "$TESTDATA"/server/b0.7.0/grow-turn{3,1,2}.ggsq
kvtool tokens common.ggsq | tr '\n' ' '; echo
kvtool check common.ggsq
kvtool prefix --matrix common.ggsq "$TESTDATA/server/b0.7.0/grow-turn3.ggsq"
