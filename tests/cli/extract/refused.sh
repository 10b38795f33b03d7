# What cannot be taken out says why.
. "$TESTDATA/../tests/cli/words"
try kvtool extract "$several" -o out
try kvtool extract "$several" --seq 5 -o out
try kvtool extract "$several" --seq 2 --tokens "1 2 3" -o out
try kvtool extract "$chat" --seq 3 -o out
try kvtool extract "$TESTDATA/modern/b11118/llama-simple.raw" --seq 0 -o out
ls
