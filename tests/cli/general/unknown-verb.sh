kvtool frobnicate
