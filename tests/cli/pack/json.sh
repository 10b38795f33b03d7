# The figures for programs.
. "$TESTDATA/../tests/cli/words"
kvtool pack --json --dry-run "$plain" | sed 's/"\(packed\|size_after\|index_bytes\)": [0-9]*/"\1": N/'
kvtool pack -q "$plain" -o plain.kvz
kvtool unpack --json --test plain.kvz | sed 's/"size_before": [0-9]*/"size_before": N/'
kvtool inspect --json plain.kvz | sed -n '/"packed"/,/}/p' | sed 's/"size": [0-9]*/"size": N/'
