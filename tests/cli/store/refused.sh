# What cannot be, is one line and leaves the store as it was.
. "$TESTDATA/../tests/cli/words"
export SOURCE_DATE_EPOCH=1790000000
try kvtool store
try kvtool store ls
try kvtool store ls --store nowhere
try kvtool store put name "$chat" --store nowhere
mkdir full && touch full/something
try kvtool store init --store full
export KVTOOL_STORE=caches
kvtool store init --budget 1M
try kvtool store init
for name in . .. a/b "" "$(printf 'a\nb')" "$(printf '\377')"; do try kvtool store put "$name" "$chat"; done
try kvtool store put name no-such-file
echo "no dump" >text
try kvtool store put name text
kvtool store put -q name "$chat"
try kvtool store put name "$plain"
try kvtool store get name
try kvtool store get nobody -o out
touch there
try kvtool store get name -o there
try kvtool store rm nobody
try kvtool store pin nobody
try kvtool store verify nobody
try kvtool store show nobody
try kvtool store gc --budget much
try kvtool store put other "$chat" --tag a/b
try kvtool store best --tokens "no ids"
kvtool store verify
echo "not a database, but large enough to look like one, and then some more" >caches/catalogue.db
try kvtool store ls
