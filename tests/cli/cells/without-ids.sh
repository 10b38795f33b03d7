# Old files of one sequence do not name it.
. "$TESTDATA/../tests/cli/words"
kvtool cells "$TESTDATA/history/v8-20240728-4c676c85e-frag-seq1.ggsq" | head -n 3
