# A byte that the disk changed is found, by get and by verify, and costs only those that need it.
. "$TESTDATA/../tests/cli/words"
export SOURCE_DATE_EPOCH=1790000000 KVTOOL_STORE=caches
kvtool store init
kvtool store put -q whole "$several"
sound=$(ls caches/blocks/*)
kvtool store put -q broken "$chat"
for file in caches/blocks/*; do [ "$file" = "$sound" ] || poke "$file" 3000 55 aa 55 aa; done
try kvtool store get broken -o out 2>&1 | sed 's/offset 0x[0-9a-f]*/offset N/'
[ -e out ] || echo "nothing was written"
try kvtool store verify | sed 's/offset 0x[0-9a-f]*/offset N/'
try kvtool store verify -q whole
kvtool store put -q --force broken "$chat"
kvtool store get broken -o again && same again "$chat"
try kvtool store verify
rm caches/blocks/*
try kvtool store verify | sed 's#blocks/[0-9a-f]*#blocks/N#'
