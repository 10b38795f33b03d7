# Edits of sessions of before August 2024. Holes are in the file, so packing shrinks it.
. "$TESTDATA/../tests/cli/words"
old=$TESTDATA/history
kvtool convert "$old/v2-20231003-ac2219fef-frag.ggsn.zst" --dry-run --json > /dev/null
for file in v2-20231003-ac2219fef-frag.ggsn.zst v4-20240303-87c2e8b27-frag.ggsn \
            v6-20240430-9c67c2773-fa-frag.ggsn v6-20240719-be0cfb417-frag.ggsn; do
  try kvtool defrag "$old/$file" -o packed --force
  try kvtool check packed
  kvtool cells packed | head -4
done
try kvtool swap "$old/v6-20240430-9c67c2773-fa-frag.ggsn" 3 4 -o once
try kvtool swap once 3 4 -o twice
same "$old/v6-20240430-9c67c2773-fa-frag.ggsn" twice
try kvtool swap "$old/v1-20231003-48be797ff-plain.ggsn.zst" 3 4 -o refused
