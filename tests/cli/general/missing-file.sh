kvtool inspect no-such-file
