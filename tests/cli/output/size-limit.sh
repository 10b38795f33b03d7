# A file that grows past the shell's limit is an error, and leaves the old one and nothing beside it.
. "$TESTDATA/../tests/cli/words"
echo precious >there
limited() { (ulimit -f 4; "$@"); }
try limited kvtool swap "$several" 0 1 -o out
try limited kvtool swap "$several" 0 1 -o there --force
try limited kvtool convert "$plain" -fa off -o out
try limited kvtool pack "$several" -o out
cat there
ls
