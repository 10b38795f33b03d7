# By sequence, by position, by both; either end of a range may be left out.
. "$TESTDATA/../tests/cli/words"
kvtool cells "$several" --seq 2 --pos 8:
kvtool cells "$several" --pos :1
kvtool cells "$several" --seq 0 --pos 18:20
kvtool cells "$several" --seq 9
