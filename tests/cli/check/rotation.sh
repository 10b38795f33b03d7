# What quantized K looks like: rotated, plain, or too little of it; as evidence, and never a reason to fail.
. "$TESTDATA/../tests/cli/words"
try kvtool check --deep $TESTDATA/trained/h128-q8_0-256.ggsq
try kvtool check --deep $TESTDATA/trained/h128-q8_0-plain-256.ggsq
try kvtool check --deep --strict $TESTDATA/modern/b11118/llamah64-fa-q8_0.seq0.ggsq
kvtool inspect $TESTDATA/trained/h128-q8_0-256.ggsq | grep ^rotation
kvtool inspect --json $TESTDATA/trained/h128-q8_0-plain-256.ggsq | grep -A 9 rotation_evidence | grep -v ratio
