# A slot file of today for a server of August 2026, and back: all is there again but the checkpoints.
. "$TESTDATA/../tests/cli/words"
try kvtool convert $TESTDATA/server/b0.7.0/gemma3.ggsq --for b10256 -o refused.ggsq
test ! -e refused.ggsq && echo "nothing was written"
kvtool convert $TESTDATA/server/b0.7.0/gemma3.ggsq --for b10256 --drop checkpoints -o older.ggsq
kvtool convert older.ggsq --for 0.7.0 --tokens payload -o newer.ggsq
kvtool convert $TESTDATA/server/b0.7.0/gemma3.ggsq --strip checkpoints -q -o stripped.ggsq
cmp newer.ggsq stripped.ggsq && echo "the same bytes"
