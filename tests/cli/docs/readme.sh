# The examples in README.md; those of the two commands on top are in tests/fresh.
"$(realpath "$TESTDATA/..")/tests/cli/check-examples" "$(realpath "$TESTDATA/..")/README.md"
echo "every example prints what it says"
