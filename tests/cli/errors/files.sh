# What cannot be read at all.
. "$TESTDATA/../tests/cli/words"
try kvtool inspect missing
try kvtool inspect .
: >empty
try kvtool inspect empty
head -c 12 "$plain" >twelve-bytes
try kvtool inspect twelve-bytes
try kvtool inspect - </dev/null
