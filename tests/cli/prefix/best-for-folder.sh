# The best file is in the middle of the folder: a server that had the second turn reused 197 tokens for the third.
mkdir slots
cp "$TESTDATA"/server/b0.7.0/grow-turn3.ggsq slots/a.ggsq
cp "$TESTDATA"/server/b0.7.0/chat-turn1.ggsq slots/b.ggsq
cp "$TESTDATA"/server/b0.7.0/chat-turn2.ggsq slots/c.ggsq
cp "$TESTDATA"/server/b0.7.0/empty-mamba.ggsq slots/d.ggsq
cp "$TESTDATA"/server/b0.7.0/gemma3.ggsq slots/e.ggsq
kvtool prefix --best-for "$TESTDATA/server/b0.7.0/chat-turn3.ggsq" slots --tsv
kvtool prefix --best-for "$TESTDATA/server/b0.7.0/chat-turn3.ggsq" slots --tsv --top 1
