# Output takes the name itself and never follows a link out of the folder; what the link led to stays. Input and output may
# be one file, by whatever names.
. "$TESTDATA/../tests/cli/words"
mkdir elsewhere
cp "$plain" elsewhere/target
kvtool swap -q "$plain" 0 1 -o expected
kind() { stat -c '%n: %F, %h' "$1"; }

ln -s elsewhere/target link
try kvtool swap "$plain" 0 1 -o link
try kvtool swap -q "$plain" 0 1 -o link --force
kind link
same link expected
same elsewhere/target "$plain"

ln -sf elsewhere/target link
try kvtool swap -q link 0 1 --in-place
kind link
same link expected
same elsewhere/target "$plain"

ln -s nowhere dangling
try kvtool swap "$plain" 0 1 -o dangling
try kvtool swap -q "$plain" 0 1 -o dangling --force
kind dangling
ln -sf elsewhere folder
try kvtool swap "$plain" 0 1 -o folder --force

echo "the same file, by its name, another path, a hard link, a symbolic link"
cp "$plain" mine
try kvtool swap -q mine 0 1 -o mine
try kvtool swap -q mine 0 1 -o mine --force
same mine expected
cp "$plain" mine
try kvtool swap -q mine 0 1 -o elsewhere/../mine --force
same mine expected
cp "$plain" mine
ln mine hard
try kvtool swap -q mine 0 1 -o hard --force
same hard expected
same mine "$plain"
ln -s mine soft
try kvtool swap -q soft 0 1 -o mine --force
same mine expected
try kvtool pack -q mine -o mine --force
try kvtool unpack -q mine -o mine --force
same mine expected
ls -A . elsewhere
