# Three turns of a chat that was shortened in between, three of a list that only grew, one file of another shape that begins
# like the list, and one that shares nothing.
mkdir slots
cp "$TESTDATA"/server/b0.7.0/{chat-turn1,chat-turn2,chat-turn3,grow-turn1,grow-turn2,grow-turn3,gemma3,empty-mamba}.ggsq slots
echo "no dump" >slots/notes.txt
kvtool prefix slots
echo
kvtool prefix slots --min 100 --tsv
