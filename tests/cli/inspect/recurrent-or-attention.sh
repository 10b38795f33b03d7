# Two layouts fit a session of mamba; the architecture decides.
. "$TESTDATA/../tests/cli/words"
kvtool inspect "$TESTDATA/history/v8-20240728-4c676c85e-mamba-plain.ggsn"
