// The loader's way through header, ids and prelude.
#include "target/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvtool::target {
namespace {

constexpr std::uint32_t session_magic = 0x6767736e;
constexpr std::uint32_t sequence_magic = 0x67677371;
constexpr std::uint32_t blob_magic = 0xaf143cd8;

// A value as the log shows it, or nothing where it is left-over memory.
std::string shown(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "";
}

}  // namespace

Simulation::Simulation(format::Window& window, Extent bounds, const Target& target,
                       std::vector<Part> parts, Container container, bool strict)
    : target_(target),
      parts_(std::move(parts)),
      container_(container),
      strict_(strict),
      window_(window),
      reader_(window, bounds, strict) {}

bool Simulation::stop_with(Outcome outcome, std::string code, std::string message,
                           std::string log) {
  if (!stop_) stop_ = Stop{outcome, {std::move(code), where_, std::move(message), std::move(log)}};
  return false;
}

bool Simulation::refuse(std::string code, std::string message, std::string log) {
  return stop_with(Outcome::refused, std::move(code), std::move(message), std::move(log));
}

// Files cut inside their only memory were measured; with several, what a variable of the second one
// holds is a guess from the first.
bool Simulation::certain() const { return !reader_.guessed() || strict_ || parts_.size() == 1; }

Simulation::Word Simulation::word(const char* name, std::uint32_t bytes) {
  const Word value = reader_.word(name, bytes);
  if (reader_.stopped())
    refuse("short_file", fmt::format("the file ends at byte {}, inside {}", reader_.end(), name),
           "unexpectedly reached end of file");
  return value;
}

bool Simulation::skip(std::uint64_t bytes) {
  reader_.skip(bytes);
  if (!reader_.stopped()) return true;
  return refuse("short_file", fmt::format("the file ends at byte {}, inside data", reader_.end()),
                "unexpectedly reached end of file");
}

void Simulation::file() {
  static_cast<void>(header() && tokens() && prelude() && state() && all_read());
}

void Simulation::blob() {
  const Word magic = word("header");
  if (going() && magic != blob_magic)
    refuse("blob_magic", "the checkpoint does not begin with the mark of a sequence state",
           "wrong sequence state magic");
  if (going()) word("header");
  if (going()) static_cast<void>(state());
}

bool Simulation::header() {
  const bool session = container_ == Container::session;
  const Word magic = word("header");
  if (!going()) return false;
  const Word version = word("header");
  if (!going()) return false;
  const std::uint32_t mine = session ? era().session_version : era().slot_version;
  if (magic == (session ? session_magic : sequence_magic) && version == mine) return true;
  const bool kind = magic != (session ? session_magic : sequence_magic);
  const char* what = session ? "session file" : "sequence state file";
  return refuse(kind ? "magic" : "version",
                kind ? fmt::format("it is no {}", what)
                     : fmt::format("it has version {}, this loader reads {} only", shown(version),
                                   mine),
                fmt::format("unknown (magic, version) for {}: {:08x}, {:08x}", what,
                            magic.value_or(0), version.value_or(0)));
}

bool Simulation::token_count(std::uint64_t n) {
  const char* what = container_ == Container::session ? "session" : "sequence state";
  const std::uint64_t end = reader_.end();
  const std::uint64_t left = (end - std::min(end, reader_.offset())) / 4;
  if (era().checkpoints && n > left)
    return refuse("token_count", fmt::format("it claims {} words of tokens, {} follow", n, left),
                  fmt::format("token count in {} file exceeds the file size! {} > {}", what, n,
                              left));
  const auto most = tokens_per_slot(target_);
  if (!era().payload && most && n > *most)
    return refuse("context", fmt::format("it has {} tokens, the context takes {}", n, *most),
                  fmt::format("token count in {} file exceeded capacity! {} > {}", what, n, *most));
  return true;
}

bool Simulation::tokens() {
  where_ = "tokens";
  const Word n = word("header");
  if (!going() || !token_count(n.value_or(0))) return false;
  const std::uint64_t begin = reader_.offset();
  if (!skip(n.value_or(0) * 4)) return false;
  where_.clear();
  if (reader_.past_end()) return true;
  words_.resize(static_cast<std::size_t>(*n));
  window_.read(begin, std::as_writable_bytes(std::span(words_)));
  return true;
}

bool Simulation::prelude() {
  if (one_sequence()) return true;
  if (!arch()) return false;
  if (era().rng_text) {
    const Word bytes = word("rng");
    if (!going() || !skip(bytes.value_or(0))) return false;
  }
  return !era().outputs || outputs();
}

bool Simulation::arch() {
  constexpr std::uint64_t longest = 256;
  const Word bytes = word("arch");
  if (!going()) return false;
  const std::uint64_t begin = reader_.offset();
  if (!skip(bytes.value_or(0))) return false;
  if (!bytes || *bytes > longest || reader_.past_end())
    return refuse("arch", "no name of an architecture follows the tokens", "wrong model arch: ");
  std::string name(static_cast<std::size_t>(*bytes), '\0');
  window_.read(begin, std::as_writable_bytes(std::span(name)));
  if (shape().arch.empty() || name == shape().arch) return true;
  return refuse("arch", fmt::format("it is of a {} model, the target's is {}", name, shape().arch),
                fmt::format("wrong model arch: '{}' instead of '{}'", name, shape().arch));
}

bool Simulation::outputs() {
  const Word ids = word("n_outputs");
  if (!going() || !skip(ids.value_or(0) * 4)) return false;
  for (const char* name : {"n_logits", "n_embd"}) {
    const Word floats = word(name, 8);
    if (!going() || !skip(std::min(floats.value_or(0), std::uint64_t{1} << 60U) * 4)) return false;
  }
  return true;
}

bool Simulation::state() {
  if (container_ == Container::slot && era().rng_text && shape().recurrent)
    return stop_with(
        Outcome::dies, "recurrent_slot",
        "servers of July 2024 abort on the slot files of recurrent models, their own too",
        "GGML_ASSERT(kv_self.has_seq_id(dest_seq_id)) failed");
  for (std::size_t m = 0; m < parts_.size(); ++m) {
    where_ = fmt::format("memory {}", m);
    memories_.emplace_back();
    memories_.back().role = parts_[m].role;
    if (!(parts_[m].cache == nullptr ? recurrent(parts_[m]) : attention(parts_[m]))) return false;
  }
  where_.clear();
  return true;
}

bool Simulation::all_read() {
  const std::uint64_t size = reader_.end();
  if (container_ == Container::session && reader_.offset() != size)
    return refuse("session_size",
                  fmt::format("the session ends at byte {}, the file at {}", reader_.offset(),
                              size),
                  fmt::format("did not read all of the session file data! size {}, got {}", size,
                              reader_.offset()));
  if (!reader_.past_end()) return true;
  return stop_with(
      Outcome::dies, "short_file",
      fmt::format("the file is {} bytes too short, and this loader notices only when it "
                  "has read past the end: the process ends, with all its slots",
                  reader_.offset() - size),
      "GGML_ASSERT(nread <= state_size) failed");
}

}  // namespace kvtool::target
