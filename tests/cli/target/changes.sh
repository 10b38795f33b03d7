# Times at which the layout changed are refused with the choices; so are versions that covered several layouts.
file=$TESTDATA/server/b0.7.0/gemma3.ggsq
for loader in 2026-08 b9500 0.9.0 2024-01 2023-03 b3000 tomorrow; do kvtool check "$file" --for $loader || echo "status $?"; done
kvtool check "$file" --to ggsq:2 || echo "status $?"
kvtool check "$file" --to ggsq:4 --for 2026-05 || echo "status $?"
kvtool check "$file" -c 256 || echo "status $?"
