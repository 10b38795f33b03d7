# Every part of a file, tensors and tail included.
. "$TESTDATA/../tests/cli/words"
kvtool map "$TESTDATA/server/b0.7.0/mamba.ggsq"
