// The entry that libFuzzer calls.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"
#include "kvtool/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    kvtool::fuzz::try_input(std::as_bytes(std::span(data, size)));
  } catch (const kvtool::Error&) {
    // refused, as it should be
  } catch (const std::exception& finding) {
    std::fprintf(stderr, "finding: %s\n", finding.what());
    std::abort();
  }
  return 0;
}
