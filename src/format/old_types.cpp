#include "format/old_types.h"

#include <array>

#include "kvtool/codec.h"

namespace kvtool::format {
namespace {

// Types that a K of those years can have, and a V in rows; a transposed V has the first two.
constexpr std::array cache_types = {ElementType::f16,  ElementType::f32,   ElementType::q8_0,
                                    ElementType::q4_0, ElementType::q4_1,  ElementType::q5_0,
                                    ElementType::q5_1, ElementType::iq4_nl};

bool is_number(ElementType type) { return info(type).block_elements == 1; }

}  // namespace

std::vector<CacheTypes> possible_types(const Dialect& d, const HeaderFacts& model,
                                       bool transposed) {
  if (model.recurrent) return {{ElementType::f32, ElementType::f32}};
  std::vector<CacheTypes> pairs;
  for (const ElementType k : cache_types)
    for (const ElementType v : cache_types) {
      if (transposed && !is_number(v)) continue;
      if (d.body < Body::by_layer && (k != v || !is_number(k))) continue;
      pairs.emplace_back(k, v);
    }
  return pairs;
}

}  // namespace kvtool::format
