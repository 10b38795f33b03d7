# What the three shells get; every verb is in each.
. "$TESTDATA/../tests/cli/words"
for shell in bash zsh fish; do
  kvtool completion $shell >script
  for verb in $(kvtool help --list); do grep -q -w -e "$verb" script || echo "$shell lacks $verb"; done
  head -n 1 script
done
kvtool completion zsh | grep -e "'swap:" -e ' swap)'
kvtool completion fish | grep -e '-a swap' -e "from swap'"
