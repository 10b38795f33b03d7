# The order of cells matters to the index of qwen4exp, and not to others.
index=$TESTDATA/modern/clients/node-llama-cpp-3.22.1.qwen4exp.ggsq
kvtool swap "$index" 1 5 -o out
kvtool move -q "$index" 1 5 -o - >moved
kvtool defrag moved --dry-run --json | grep -A 2 '"warnings"'
# Nothing moves, nothing is said.
kvtool swap "$index" 3 3 -q -o same
kvtool defrag "$index" -q -o ordered
kvtool swap "$TESTDATA/modern/b11118/dsa-deepseek32.ggsn" 1 5 -q -o other
