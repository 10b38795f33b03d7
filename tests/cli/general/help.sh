# The verbs, one verb, and the bare list.
. "$TESTDATA/../tests/cli/words"
kvtool help | head -n 6
kvtool help compact
kvtool swap --help >swap-help
kvtool help swap >help-swap
same swap-help help-swap
kvtool help --list | head -n 3
