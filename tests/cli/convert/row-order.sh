# Rows that the target reads the other way round: it takes the file and answers nonsense, so it has to be told.
model=$TESTDATA/models/deepseek2-mha.gguf
kvtool convert -q "$TESTDATA/modern/rn-0.6.7/ds2mha.seq0.ggsq" --loader 0.7.0 --model "$model" -o wrong.ggsq
kvtool convert -q "$TESTDATA/modern/b11118/ds2mha-nofa.ggsn" --loader 0.7.0 --model "$model" -o right.ggsn
