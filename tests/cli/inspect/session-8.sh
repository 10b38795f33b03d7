# The oldest session that is read: generator's text, embeddings, V transposed.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/history/v8-20240728-4c676c85e-emb-plain.ggsn"
