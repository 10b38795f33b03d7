# One file is missing and one is damaged: the others are looked at all the same.
head -c 100 "$TESTDATA/server/b0.7.0/grow-turn1.ggsq" >cut.ggsq
ls "$TESTDATA"/server/b0.7.0/grow-turn[12].ggsq cut.ggsq missing.ggsq 2>/dev/null | tr '\n' '\0' >list || true
printf 'missing.ggsq\0' >>list
kvtool prefix --tsv --files-from list
