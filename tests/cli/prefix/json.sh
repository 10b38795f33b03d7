cd "$TESTDATA/server/b0.7.0"
kvtool prefix --json grow-turn1.ggsq grow-turn2.ggsq
kvtool prefix --json --best-for "229 153 132 108 1" grow-turn1.ggsq
kvtool prefix --json --explain --around 1 "1 2 3" "1 2 4" || echo "status $?"
kvtool prefix --json --extract --dry-run grow-turn1.ggsq grow-turn2.ggsq
