# Sessions of version 8 need the text of the generator, which comes from another one.
. "$TESTDATA/../tests/cli/words"
new=$TESTDATA/history/v9-20250220-c392e5094-openelm-plain.ggsn
old=$TESTDATA/history/v8-20240728-4c676c85e-openelm-fa-plain.ggsn
try kvtool convert $new --to ggsn:8 -o a.ggsn
try kvtool convert $new --like $old -o a.ggsn
try kvtool convert $old --strip rng -o b.ggsn
try kvtool check a.ggsn --like $old
