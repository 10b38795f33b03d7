kvtool xyzzy
