kvtool prefix --best-for "no-such-file" "$TESTDATA/server/b0.7.0/chat-turn1.ggsq"
