// Hints for mistyped words.
#pragma once

#include <string>
#include <vector>

namespace kvtool::cli {

// Fewest insertions, deletions, replacements and exchanges of neighbours that turn a into b.
[[nodiscard]] std::size_t edit_distance(const std::string& a, const std::string& b);

// "; did you mean X?" for the nearest known word, or nothing when none is near.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& known);

}  // namespace kvtool::cli
