// What the tensor kernels cost, as a share of memcpy: every round times the kernel and, right after
// it, a memcpy of the larger of its two sides. Time is that of the processor, so that what else
// runs on a busy machine counts little.
//
//   kvtool_bench --benchmark_filter=f16        "x_memcpy" is the figure: 1 is as fast as memcpy
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kvtool/codec.h"
#include "kvtool/tensor.h"
#include "tensor/pair_sums.h"
#include "tensor/reference.h"
#include "tensor/transpose.h"

namespace {

using namespace kvtool;

constexpr std::size_t width = 1024;          // numbers a row
constexpr std::size_t rows = 32 * 1024;      // 64 MiB of f16: far beyond every cache
constexpr std::size_t slow_rows = 1024;      // for the references
using Bytes = std::vector<std::byte>;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& work) {
  const double start = processor_seconds();
  work();
  return processor_seconds() - start;
}

// Runs `kernel` and a memcpy of `bytes` in turn.
void compare(benchmark::State& state, std::size_t bytes, const std::function<void()>& kernel) {
  const Bytes from(bytes, std::byte{1});
  Bytes to(bytes);
  double kernel_seconds = 0;
  double copy_seconds = 0;
  kernel();
  for (auto _ : state) {
    const double seconds = seconds_of(kernel);
    copy_seconds += seconds_of([&] {
      std::memcpy(to.data(), from.data(), bytes);
      benchmark::DoNotOptimize(to.data());
      benchmark::ClobberMemory();
    });
    kernel_seconds += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["x_memcpy"] = copy_seconds / kernel_seconds;
  state.counters["GB/s"] = static_cast<double>(bytes) * static_cast<double>(state.iterations()) /
                           kernel_seconds / 1e9;
}

std::vector<float> numbers(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> some(4093);  // prime, so that rows differ
  for (float& x : some) x = normal(random);
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = some[i % some.size()];
  return all;
}

Bytes encoded(ElementType type, std::size_t count) {
  const auto floats = numbers(count);
  Bytes bytes(row_bytes(type, count));
  quantize(type, floats, bytes);
  return bytes;
}

void decode(benchmark::State& state, ElementType type) {
  const Bytes in = encoded(type, rows * width);
  std::vector<float> out(rows * width);
  compare(state, out.size() * sizeof(float), [&] { dequantize(type, in, out); });
}

void encode(benchmark::State& state, ElementType type) {
  const auto in = numbers(rows * width);
  Bytes out(row_bytes(type, in.size()));
  compare(state, in.size() * sizeof(float), [&] { quantize(type, in, out); });
}

void decode_plainly(benchmark::State& state, ElementType type) {
  const Bytes in = encoded(type, slow_rows * width);
  std::vector<float> out(slow_rows * width);
  compare(state, out.size() * sizeof(float), [&] { reference::decode(type, in, out); });
}

void encode_plainly(benchmark::State& state, ElementType type) {
  const auto in = numbers(slow_rows * width);
  Bytes out(row_bytes(type, in.size()));
  compare(state, in.size() * sizeof(float), [&] { reference::encode(type, in, out); });
}

void convert(benchmark::State& state, RowForm from, RowForm to, bool with_figures) {
  RowConverter converter(from, to, width);
  const Bytes in = encoded(from.type, rows * width);
  Bytes out(rows * converter.out_row_bytes());
  ErrorFigures figures;
  compare(state, std::max(in.size(), out.size()),
          [&] { converter.convert(in, out, with_figures ? &figures : nullptr); });
}

void turn(benchmark::State& state, std::uint32_t block) {
  auto rows_of_floats = numbers(rows / 4 * width);
  compare(state, rows_of_floats.size() * sizeof(float), [&] { rotate(rows_of_floats, block); });
}

// What diff does with rows of f32: sums over pairs.
void sum_pairs(benchmark::State& state, kernels::SumPairs sums, std::size_t count) {
  const auto a = numbers(count);
  const auto b = numbers(count + 1);
  compare(state, count * sizeof(float), [&] {
    benchmark::DoNotOptimize(sums(a, std::span(b).subspan(1), Tolerance{}));
  });
}

using Transpose = void (*)(const Panel&, std::span<const std::byte>, std::span<std::byte>);

// `columns` channels of as many cells as `mebibytes` hold.
void transpose_cells(benchmark::State& state, Transpose transposition, std::size_t element_bytes,
                     std::size_t columns, std::size_t mebibytes) {
  const std::size_t cells = (mebibytes << 20U) / element_bytes / columns;
  const Panel panel{cells, columns, element_bytes, columns * element_bytes, cells * element_bytes};
  const Bytes in(cells * columns * element_bytes, std::byte{1});
  Bytes out(in.size());
  compare(state, in.size(), [&] { transposition(panel, in, out); });
}

template <class F, class... Arguments>
void add(const std::string& name, F f, Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), f, arguments...)->UseManualTime()->MinTime(0.3);
}

void add_types() {
  for (const char* name : {"f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"}) {
    const ElementType type = find_element_type(std::string_view(name))->type;
    add(std::string("decode/") + name, decode, type);
    add(std::string("decode_reference/") + name, decode_plainly, type);
    add(std::string("encode/") + name, encode, type);
    add(std::string("encode_reference/") + name, encode_plainly, type);
  }
}

void add_conversions() {
  const RowForm f16{ElementType::f16, 0};
  const RowForm q8_0{ElementType::q8_0, 0};
  const RowForm rotated{ElementType::q8_0, 64};
  const RowForm q4_0{ElementType::q4_0, 0};
  add("convert/f16_q8_0", convert, f16, q8_0, false);
  add("convert/f16_q8_0_figures", convert, f16, q8_0, true);
  add("convert/f16_q8_0_rotated", convert, f16, rotated, false);
  add("convert/f16_q8_0_rotated_figures", convert, f16, rotated, true);
  add("convert/q8_0_f16", convert, q8_0, f16, false);
  add("convert/q8_0_rotated_f16", convert, rotated, f16, false);
  add("convert/f16_q4_0", convert, f16, q4_0, false);
  add("convert/f16_bf16", convert, f16, RowForm{ElementType::bf16, 0}, false);
  add("rotate/64", turn, 64U);
  add("rotate/128", turn, 128U);
}

void add_sums() {
  add("pair_sums", sum_pairs, kernels::pair_sums(), rows / 4 * width);
  add("pair_sums_reference", sum_pairs, &reference::pair_sums, slow_rows * width);
}

void add_transpositions() {
  for (const std::size_t element_bytes : {1U, 2U, 4U})
    for (const std::size_t columns : {1024U, 1000U})
      for (const std::size_t mebibytes : {4U, 64U}) {
        const auto name = fmt::format("/{}_bytes/{}/{}MiB", element_bytes, columns, mebibytes);
        add("transpose" + name, transpose_cells, &transpose, element_bytes, columns, mebibytes);
        add("transpose_reference" + name, transpose_cells, &reference::transpose, element_bytes,
            columns, mebibytes);
      }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("kernels", std::string(kernel_set()));
  add_types();
  add_conversions();
  add_sums();
  add_transpositions();
  benchmark::RunSpecifiedBenchmarks();
}
