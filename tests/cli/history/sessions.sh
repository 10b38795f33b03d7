# Sessions of before August 2024: holes, cells without data, types that are not stored.
. "$TESTDATA/../tests/cli/words"
old=$TESTDATA/history
try kvtool inspect "$old/v2-20231207-81bc9214a-shift-applied.ggsn.zst"
try kvtool check "$old/v2-20231207-81bc9214a-shift-applied.ggsn.zst"
try kvtool cells "$old/v2-20231003-ac2219fef-frag.ggsn.zst"
try kvtool inspect "$old/v6-20240430-9c67c2773-kf32-plain.ggsn"
try kvtool inspect --k-type f16 --v-type f32 "$old/v6-20240430-9c67c2773-kf32-plain.ggsn" | head -6
try kvtool inspect --k-type q9 "$old/v6-20240430-9c67c2773-kf32-plain.ggsn"
try kvtool inspect "$old/v0-20230428-1481a9cf2-plain.ggsn.zst"
try kvtool check "$old/v1-20230723-e76d630df-gqa-plain.ggsn.zst"
try kvtool inspect "$old/v7-20240728-e54c35e4f-fa-frag-seq1.ggsq"
