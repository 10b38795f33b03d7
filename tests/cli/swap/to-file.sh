# Two cells change places, in all layers; done twice it is the old file.
. "$TESTDATA/../tests/cli/words"
kvtool swap "$several" 10 25 -o once
kvtool cells "$several" | sed -n '12p;27p'
kvtool cells once | sed -n '12p;27p'
kvtool swap once 10 25 -o twice
same once "$several"
same twice "$several"
