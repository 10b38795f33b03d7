# A file that is written to, cut or replaced while it is read: an error, and what was there stays. Each time kvtool waits,
# for a pipe that is full or for a file that is not there yet.
. "$TESTDATA/../tests/cli/words"
long=$TESTDATA/trained/h128-q8_0-256.ggsq
mkfifo pipe

# during CHANGE...: what a rewrite of `mine` to a pipe says when the change happens after its first bytes.
during() {
  local status=0
  cp "$long" mine
  { kvtool swap mine 0 1 -o - 2>said || echo "= $?" >>said; } | { head -c 1 >/dev/null; "$@"; cat >/dev/null; }
  echo "# $*"
  cat said
}
stat -c 'more than a pipe holds: %s' -L "$long"
during truncate -s 100000 mine
during touch -d '2020-01-01' mine
during poke mine 100000 ff
during true

# A server saves anew under the name while the old content is rewritten: the new one stays.
cp "$plain" mine
cp "$chat" newer
{ sleep 0.3; mv newer mine; cat "$TESTDATA/models/llama.gguf"; } >pipe &
try kvtool seq rm -q mine --pos 5:9 --close -m pipe --in-place
wait
same mine "$chat"
# The same without anything happening.
cp "$plain" mine
cat "$TESTDATA/models/llama.gguf" >pipe &
try kvtool seq rm -q mine --pos 5:9 --close -m pipe --in-place
wait
same mine "$plain"
# What has no name to take back is not rewritten in place.
cat "$plain" >pipe &
try kvtool swap -q pipe 0 1 --in-place
ls
