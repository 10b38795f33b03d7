# rm, cp, keep and rename: what is done, and what it comes to.
. "$TESTDATA/../tests/cli/words"
kvtool seq rm "$several" --seq 1 --pos 15:18 --pos 3:5 -o removed
kvtool seq ls removed
kvtool seq rm "$several" --seq 2 -o two
kvtool seq cp two 0 2 -o copied
kvtool seq ls copied
kvtool seq cp two 0 2 --pos :12 -o part
kvtool seq ls part --tsv | cut -f 3-6
kvtool seq keep "$several" 2 -o kept
kvtool seq rename two 0 5 -o renamed
kvtool seq rename renamed 5 0 -o back
same two back
kvtool seq rm "$several" --pos 2:4 --json --dry-run
