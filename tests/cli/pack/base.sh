# Differences from another dump: found beside the file, by name or by option, and refused otherwise.
. "$TESTDATA/../tests/cli/words"
cp "$TESTDATA/server/b0.7.0/chat-turn1.ggsq" turn1.ggsq
cp "$TESTDATA/server/b0.7.0/chat-turn2.ggsq" turn2.ggsq
alone=$(kvtool pack -q turn2.ggsq -o - | wc -c)
kvtool pack -q --base turn1.ggsq turn2.ggsq -o turn2.kvz
[ "$(wc -c <turn2.kvz)" -lt "$alone" ] && echo "smaller with its predecessor"
kvtool inspect turn2.kvz | grep -o "differences from .*"
kvtool unpack -q turn2.kvz -o back && same back turn2.ggsq
mkdir elsewhere
mv turn1.ggsq elsewhere/old
kvtool cells turn2.kvz | head -n 2
try kvtool check --deep turn2.kvz
try kvtool unpack turn2.kvz -o again
try kvtool unpack --base "$plain" turn2.kvz -o again
try kvtool unpack -q --base elsewhere/old turn2.kvz -o again
same again turn2.ggsq
kvtool pack -q elsewhere/old -o turn1.ggsq.kvz
kvtool unpack -q turn2.kvz -o - | cmp - turn2.ggsq && echo "the base may be packed"
try kvtool pack -q turn2.ggsq --base no-such-file -o out
