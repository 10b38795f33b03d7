# Cells field by field.
. "$TESTDATA/../tests/cli/words"
kvtool map --fields "$TESTDATA/server/b0.7.0/qwen2vl.ggsq" | sed -n '5,20p'
