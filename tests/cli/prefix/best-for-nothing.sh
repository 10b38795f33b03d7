kvtool prefix --best-for "[1, 2, 3]" "$TESTDATA/server/b0.7.0/chat-turn1.ggsq"
