# The scripts are well-formed, as far as their shells are installed.
. "$TESTDATA/../tests/cli/words"
kvtool completion bash | bash -n && echo bash
for shell in zsh fish; do
  kvtool completion $shell >script.$shell
  command -v $shell >/dev/null || continue
  $shell -n script.$shell || echo "$shell: not well-formed"
done
