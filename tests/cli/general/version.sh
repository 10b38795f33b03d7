kvtool --version
