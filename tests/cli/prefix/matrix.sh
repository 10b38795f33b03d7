cd "$TESTDATA/server/b0.7.0"
kvtool prefix --matrix grow-turn3.ggsq grow-turn1.ggsq grow-turn2.ggsq gemma3.ggsq empty-mamba.ggsq
kvtool prefix --matrix --tsv grow-turn3.ggsq grow-turn1.ggsq grow-turn2.ggsq
