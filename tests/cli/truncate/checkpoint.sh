# Back to where a server could go back, which a recurrent state and a window allow in no other way.
. "$TESTDATA/../tests/cli/words"
turns=$TESTDATA/server/b0.7.0/lfm2-2turns.ggsq
kvtool inspect "$turns" | grep checkpoint
try kvtool truncate "$turns" 29 -o out
kvtool truncate "$turns" --to-checkpoint 0 -o first
kvtool check first
kvtool truncate "$turns" --to-checkpoint 1 -o second
kvtool seq ls second
kvtool truncate second --to-checkpoint 0 -o again
same first again
kvtool truncate "$chat" --to-checkpoint 0 -o window
kvtool check window
