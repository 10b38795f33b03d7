# What belongs to a position of a sequence stays the same; only its place changes.
. "$TESTDATA/../tests/cli/words"
kvtool defrag -q "$several" -o out
kvtool cells "$several" | cut -f 4,8 | sort >before
kvtool cells out | cut -f 4,8 | sort >after
same before after
same "$several" out
