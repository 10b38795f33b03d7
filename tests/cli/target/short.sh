# A cut file: no layout fits it, and a server of today dies of it, but one of 2025 does not.
head -c 12000 "$TESTDATA/restore/b0.7.0/llama-f16-fa-off.ggsq" >cut.bin
kvtool check cut.bin || echo "status $?"
kvtool check cut.bin --for 0.7.0 -m "$TESTDATA/models/llama.gguf" -c 256 -np 1 -fa off -ctk f16 -ctv f16 || echo "status $?"
kvtool check cut.bin --for b4748 -m "$TESTDATA/models/llama.gguf" -c 256 || echo "status $?"
