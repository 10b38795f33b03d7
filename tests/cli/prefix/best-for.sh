# A prompt of 54 tokens that shares 29 with files of different memories, the best of which comes last; what the servers
# measured is in the files' sidecars (cache_n).
cd "$TESTDATA/server/b0.7.0"
prompt="229 153 132 108 113 229 153 132 119 107 104 229 153 132 101 104 106 108 113 113 108 113 106 229 153 132 106 114 103
229 153 132 102 117 104 100 119 104 103 229 153 132 119 107 104 229 153 132 107 104 100 121 104 113"
files="gemma3-no-checkpoints.ggsq lfm2-no-checkpoints.ggsq empty-mamba.ggsq gemma3.ggsq mamba.ggsq llama-f16.ggsq"
kvtool prefix --best-for "$prompt" $files
# the same prompt as JSON on standard input, as a table
echo "[$(tr ' \n' ',,' <<<"$prompt" | sed 's/,$//')]" | kvtool prefix --best-for - $files --tsv --top 2
# a dump as the prompt: a turn of a chat for the next one
kvtool prefix --best-for chat-turn2.ggsq chat-turn1.ggsq chat-turn3.ggsq
