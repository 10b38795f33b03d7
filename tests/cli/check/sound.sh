# Nothing wrong, and a note.
. "$TESTDATA/../tests/cli/words"
try kvtool check "$chat"
try kvtool check --deep --strict "$chat"
try kvtool check --quiet "$chat"
