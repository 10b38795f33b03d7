# A buffer of one sequence that may be a window alone: the bytes do not tell.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/history/v9-20250220-c392e5094-plain-raw-seq.rawseq"
