# The script of bash loads, and completes verbs, options, their values and files.
. "$TESTDATA/../tests/cli/words"
source <(kvtool completion bash)
# complete WORD...: what is offered for the last one
offered() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _kvtool || true  # nothing fits
  echo "$*: ${COMPREPLY[*]}"
}
touch chat.bin chat.txt
offered kvtool sw
offered kvtool --v
offered kvtool swap --in
offered kvtool compact --st
offered kvtool inspect ch
offered kvtool inspect --trailing ""
offered kvtool map --color n
offered kvtool completion f
offered kvtool help mo
offered kvtool seq r
offered kvtool seq rm --clo
offered kvtool seq rm ch
complete -p kvtool
