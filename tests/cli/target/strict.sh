# A strict check passes over the one warning that every file has, and over no other.
. "$TESTDATA/../tests/cli/words"
slot=$TESTDATA/server/b0.7.0/llama-f16.ggsq
try kvtool check --strict $slot --like $slot
bare=$TESTDATA/server/b0.7.0/gemma3-no-checkpoints.ggsq
try kvtool check -q $bare --like $chat
try kvtool check -q --strict $bare --like $chat
