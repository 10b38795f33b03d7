# A changed bit is found and named, nothing is written, and verbs that meet it say the same.
. "$TESTDATA/../tests/cli/words"
flip() { cp chat.kvz broken.kvz; poke broken.kvz "$1" "$(printf '%02x' $(($(od -An -tu1 -j "$1" -N 1 chat.kvz) ^ 1)))"; }
named() { kvtool unpack broken.kvz -o out 2>&1 | sed 's/offset 0x[0-9a-f]*: //; s/[0-9a-f]\{16\}/HASH/g'; ls out 2>/dev/null || true; }
kvtool pack -q "$chat" -o chat.kvz
size=$(wc -c <chat.kvz)
flip 20; named
flip 100; named
flip 9000; named
flip $((size - 100)); named
flip $((size - 30)); named
flip $((size - 1)); named
flip 9000
kvtool check --deep broken.kvz 2>&1 | sed 's/offset 0x[0-9a-f]*: //'
kvtool inspect broken.kvz | head -n 1
head -c $((size - 1)) chat.kvz >cut.kvz
try kvtool inspect cut.kvz
