# A window cache without its checkpoints loads, and everything is computed again.
head -c 12940 "$TESTDATA/server/b0.7.0/gemma3.ggsq" >chat.bin
kvtool check chat.bin --for 0.7.0 -m "$TESTDATA/models/gemma3.gguf" -c 256 -np 1 -fa on -ctk f16 -ctv f16 --json
