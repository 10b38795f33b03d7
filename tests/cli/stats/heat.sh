# Blocks of several heights, or shades; a window cache has fewer cells than the drawing has columns.
kvtool stats $TESTDATA/server/b0.7.0/gemma3.ggsq --heat --width 24
kvtool stats $TESTDATA/server/b0.7.0/prompt-only-llama.ggsq --heat --width 12 --color always | cat -v
