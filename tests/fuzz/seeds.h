// Inputs that fuzzing begins with: sound ones of every kind that a target knows.
#pragma once

#include <string>
#include <vector>

#include "support/bytes.h"

namespace kvtool::fuzz {

// Throws std::invalid_argument for a target without seeds.
[[nodiscard]] std::vector<test::ByteVector> seeds_of(const std::string& target);

}  // namespace kvtool::fuzz
