#include "edit/same_shape.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool {
namespace {

class ShapeComparison {
 public:
  ShapeComparison(const Dump& first, const Dump& other) : first_(first), other_(other) {}

  void run() const {
    if (first_.arch && other_.arch && *first_.arch != *other_.arch)
      refuse(fmt::format("is of a {} model", *other_.arch), fmt::format("a {} model", *first_.arch),
             false);
    compare_dialects();
    const auto& a = first_.state.memories;
    const auto& b = other_.state.memories;
    if (a.size() != b.size())
      refuse(fmt::format("has {} memories", b.size()), fmt::format("{}", a.size()), false);
    for (std::size_t m = 0; m < a.size(); ++m) compare_memories(m, a[m], b[m]);
  }

 private:
  [[noreturn]] void refuse(const std::string& here, const std::string& there,
                           bool convertible) const {
    const std::string& name = first_.source->name();
    throw Error(ErrorKind::refused,
                fmt::format("{}, and {} {}{}", here, name, there,
                            convertible
                                ? fmt::format("; kvtool convert --like {} {} -o OUT makes them "
                                              "alike",
                                              name, other_.source->name())
                                : ": no conversion helps"))
        .in_file(other_.source->name());
  }

  // Versions of the two kinds of file that belong together in time.
  static std::uint32_t time_of(const Dialect& d) {
    return d.container == Container::slot && d.version >= 3 ? d.version + 7 : d.version;
  }

  void compare_dialects() const {
    const Dialect& a = first_.dialect;
    const Dialect& b = other_.dialect;
    const bool one_kind = a.container == b.container;
    if ((one_kind || (a.version > 2 && b.version > 2)) && time_of(a) != time_of(b))
      refuse(fmt::format("is of version {}", b.version), fmt::format("of version {}", a.version),
             true);
    if (a.streams != b.streams || a.rotation != b.rotation || a.extension != b.extension)
      refuse("has another layout: " + other_.layout, first_.layout, true);
  }

  static const Stream* filled(const Memory& memory) {
    for (const Stream& stream : memory.streams)
      if (!stream.cells.empty()) return &stream;
    return nullptr;
  }

  void compare_memories(std::size_t m, const Memory& a, const Memory& b) const {
    const std::string where = fmt::format("memory {}", m);
    if (a.kind != b.kind || a.role != b.role)
      refuse(fmt::format("{} is {}", where, b.role), a.role, false);
    const Stream* x = filled(a);
    const Stream* y = filled(b);
    if (x == nullptr || y == nullptr) return;
    if (x->layers.size() != y->layers.size())
      refuse(fmt::format("{} has {} layers", where, y->layers.size()),
             fmt::format("{}", x->layers.size()), false);
    if (x->rot_k != y->rot_k || x->rot_v != y->rot_v)
      refuse(fmt::format("{} has K and V rotated by {} and {}", where, y->rot_k, y->rot_v),
             fmt::format("by {} and {}", x->rot_k, x->rot_v), true);
    for (std::size_t l = 0; l < x->layers.size(); ++l) {
      compare_tensors(fmt::format("K of layer {} in {}", l, where), x->layers[l].k, y->layers[l].k);
      compare_tensors(fmt::format("V of layer {} in {}", l, where), x->layers[l].v, y->layers[l].v);
    }
  }

  static std::string words_of(const Tensor& t) {
    if (t.orientation == Orientation::absent) return "absent";
    return fmt::format("{} {} of {}", t.cell_elements(),
                       t.orientation == Orientation::transposed ? "transposed" : "in rows",
                       info(t.type).name);
  }

  void compare_tensors(const std::string& where, const Tensor& a, const Tensor& b) const {
    if (a.orientation == b.orientation && a.type == b.type &&
        a.cell_elements() == b.cell_elements())
      return;
    const bool width_fits = a.cell_elements() == b.cell_elements();
    refuse(fmt::format("{} is {}", where, words_of(b)), fmt::format("has {}", words_of(a)),
           width_fits);
  }

  const Dump& first_;
  const Dump& other_;
};

}  // namespace

void require_same_shape(const Dump& first, const Dump& other) {
  ShapeComparison(first, other).run();
}

}  // namespace kvtool
