# A new file has the permissions of its source; what came through a pipe is for its owner only. The umask has no say.
. "$TESTDATA/../tests/cli/words"
umask 000
kvtool pack -q "$plain" -o packed
for mode in 640 600 444 755; do
  cp "$plain" mine
  chmod $mode mine
  kvtool swap -q mine 0 1 -o swapped --force
  kvtool pack -q mine -o packed --force
  kvtool unpack -q packed -o unpacked --force
  kvtool swap -q mine 0 1 --in-place
  stat -c '%n %a' swapped packed unpacked mine
done
kvtool swap -q - 0 1 -o from-stdin <"$plain"
cat "$plain" | kvtool swap -q - 0 1 -o from-pipe
cat "$plain" | kvtool pack -q - -o packed-from-pipe
stat -c '%n %a' from-stdin from-pipe packed-from-pipe
