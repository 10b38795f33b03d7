// One tensor in another type, orientation, rotation or position, in bounded memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/aligned_bytes.h"
#include "kvtool/rope.h"
#include "kvtool/tensor.h"
#include "write/column_writer.h"
#include "write/gather.h"
#include "write/row_reader.h"
#include "write/row_turner.h"

namespace kvtool {

struct TensorJob {
  std::span<const TensorRun> runs;        // the cells, in output order
  std::span<const std::uint32_t> rotated; // width of the rotation of each run's rows, 0: none
  const Tensor& target;                   // shape of the output
  std::uint32_t rotation;                 // width of the rotation that the output shall have
  std::span<const Position> shifts = {};  // by how many positions each run's rows turn; empty: none
  const Rope* rope = nullptr;             // how they turn; none: they do not, whatever `shifts` says
};

// True when the job is a plain copy of whole cells.
[[nodiscard]] bool needs_no_conversion(const TensorJob& job);

// Walks the cells of one tensor after the other in panels: read as rows, convert, write as rows or
// columns. Its memory serves all of them.
class TensorConverter {
 public:
  explicit TensorConverter(Sink& sink) : sink_(sink), columns_(sink) {}

  // Appends the tensor to the sink. What the output's type loses is added to `errors`, measured in
  // the rotation of the output; nullptr: nobody asks, which is faster. Throws Error(unsupported)
  // for types whose values are not known.
  void run(const TensorJob& job, ErrorFigures* errors);

 private:
  // A converter of rows, for the runs of one type and rotation.
  struct Converter {
    RowForm form;
    RowConverter converter;
  };

  std::span<const std::byte> converted(const TensorJob& job, std::uint64_t first,
                                       std::uint64_t count, ErrorFigures* errors);
  RowConverter& converter_for(const TensorJob& job, const Tensor& from);
  RowTurner& turner_for(const TensorJob& job, std::size_t run);

  Sink& sink_;
  ColumnWriter columns_;
  RowReader reader_;
  std::vector<Converter> converters_;
  std::optional<RowTurner> turner_;  // of the form and shift below: neighbouring runs mostly turn alike
  RowForm turner_form_;
  Position turner_shift_ = 0;
  AlignedBytes panel_;
};

}  // namespace kvtool
