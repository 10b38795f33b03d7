# Sequences in as few runs as sharing allows; a second time changes nothing.
. "$TESTDATA/../tests/cli/words"
kvtool defrag "$several" -o once
kvtool map --cells once
kvtool defrag once -o twice
same once twice
