// The sixteen unevenly spaced levels of iq4_nl.
#pragma once

#include <array>

namespace kvtool {

inline constexpr std::array<float, 16> uneven_levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                        1,    13,   25,  38,  53,  69,  89,  113};

}  // namespace kvtool
