# One sequence of a session, with the tokens that are certain.
. "$TESTDATA/../tests/cli/words"
kvtool extract "$several" --seq 0 -o first
kvtool check first
kvtool extract "$several" --seq 2 -o third
kvtool tokens third
kvtool extract "$several" --seq 2 --tokens "1 2 3 4 5 6 7 8 9 10 11" -o given
kvtool tokens given | tail -n 1
kvtool extract "$several" --seq 1 --json --dry-run
kvtool extract "$TESTDATA/modern/b11118/gemma3-multi-uni.ggsn" --seq 1 -m "$TESTDATA/models/gemma3.gguf" -o window
