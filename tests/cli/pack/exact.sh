# There and back, by file and by pipe, with any number of threads; figures of each kind of data.
. "$TESTDATA/../tests/cli/words"
kvtool pack "$chat" -o chat.kvz | sed 's/> [0-9]* bytes.*/> N bytes/'  # the number is zstd's affair
kvtool unpack chat.kvz -o back | sed 's/^[0-9]*/N/'
same back "$chat"
kvtool pack - -o - <"$chat" | cmp - chat.kvz && echo "the same from a pipe"
kvtool pack -T 3 "$chat" -q -o - | cmp - chat.kvz && echo "the same with three threads"
kvtool unpack - -o - <chat.kvz | cmp - "$chat" && echo "back through a pipe"
kvtool pack "$several" --tsv --dry-run | cut -f 1-3
