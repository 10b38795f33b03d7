server="$TESTDATA/server/b0.7.0"
refused() { kvtool prefix --extract -o out.ggsq "$@" && echo "not refused" || echo "status $?"; [ ! -e out.ggsq ]; }
# nothing in common, another shape, a state that cannot be cut
printf 'not a dump' >other.ggsq
refused "$server/llama-f16.ggsq" "$server/gemma3.ggsq"
refused "$server/lfm2.ggsq" "$server/lfm2-2turns.ggsq"
refused "$server/grow-turn1.ggsq" other.ggsq
kvtool prefix --extract "$server/grow-turn1.ggsq" || echo "status $?"
# other K and V: the last value of the file
cp "$server/grow-turn1.ggsq" changed.ggsq
printf '\x00\x3c' | dd of=changed.ggsq bs=1 seek=$(($(stat -c %s changed.ggsq) - 2)) conv=notrunc status=none
refused "$server/grow-turn1.ggsq" changed.ggsq
kvtool prefix --extract -o out.ggsq --from changed.ggsq "$server/grow-turn1.ggsq" changed.ggsq
