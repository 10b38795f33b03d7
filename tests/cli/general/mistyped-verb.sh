kvtool insect
