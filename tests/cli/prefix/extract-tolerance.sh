# One conversation by two builds: its K and V differ by 2^-7 at most.
cd "$TESTDATA/trained"
out=$OLDPWD/common.ggsq
kvtool prefix --extract -o "$out" --tolerance 0.0078 pair-exact-48.ggsq pair-othercpu-48.ggsq || echo "status $?"
kvtool prefix --extract -o "$out" --tolerance 0.0078125 pair-exact-48.ggsq pair-othercpu-48.ggsq
cmp "$out" pair-exact-48.ggsq && echo "the first of them"
kvtool prefix --extract -o "$out" --force --from pair-othercpu-48.ggsq pair-exact-48.ggsq pair-othercpu-48.ggsq
cmp "$out" pair-othercpu-48.ggsq && echo "the second"
