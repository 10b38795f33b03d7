# Types change, and what that loses is told layer by layer; llama.cpp's short names of options are understood.
kvtool convert $TESTDATA/modern/b11118/llama-fa-f32.ggsn -ctk q8_0 -ctv bf16 --no-rotation -o out.ggsn
kvtool inspect out.ggsn | grep layers
