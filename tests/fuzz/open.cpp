// Opening any bytes: an error with a place, or a dump that keeps every promise.
#include "fuzz/target.h"
#include "kvtool/check.h"
#include "kvtool/facts.h"
#include "support/damage.h"

namespace kvtool::fuzz {
namespace {

void look_at_everything(const Dump& dump) {
  static_cast<void>(check(dump, {.deep = true}));
  for (const Memory& memory : dump.state.memories) {
    static_cast<void>(sequences_of(memory, holds_one_sequence(dump)));
    for (const Stream& stream : memory.streams) static_cast<void>(cell_tokens(dump, stream));
  }
}

void open_as(std::span<const std::byte> input, const OpenOptions& options) {
  const test::Outcome outcome = test::open_bytes(input, options);
  const std::string flaw = test::flaw_of(outcome, input);
  require(flaw.empty(), flaw);
  if (outcome.dump) look_at_everything(*outcome.dump);
}

}  // namespace

void try_input(std::span<const std::byte> input) {
  open_as(input, {});
  open_as(input, {.layout = {}, .trailing = Trailing::keep});
  OpenOptions skim;
  skim.skim = true;
  static_cast<void>(test::open_bytes(input, skim));
}

}  // namespace kvtool::fuzz
