# A session names its architecture, a slot file does not: one kind of K/V all the same. Names come from standard input.
printf '%s\n' "$TESTDATA"/modern/b11118/llama-simple.{ggsn,seq0.ggsq} | kvtool prefix --files-from -
# not so when sessions of that shape disagree
cp "$TESTDATA/modern/b11118/llama-simple.ggsn" other.ggsn
printf 'olmoe' | dd of=other.ggsn bs=1 seek=$((12 + 24 * 4 + 4)) conv=notrunc status=none
kvtool prefix other.ggsn "$TESTDATA"/modern/b11118/llama-simple.{ggsn,seq0.ggsq} | grep -v '^$'
