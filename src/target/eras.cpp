// The table of eras. Days and builds are those known for certain; what lies between two rows is
// nobody's, and is refused by name instead of being guessed.
#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

// July to September 2024.
Era version_8() {
  Era e;
  e.name = "8/2";
  e.summary = "sessions hold the generator's text";
  e.from = "2024-07-28";
  e.until = "2024-09-06";
  e.first_build = 3479;
  e.last_build = 3479;
  e.session_version = 8;
  e.slot_version = 2;
  e.rng_text = true;
  e.outputs = true;
  e.rotates = false;
  e.mla_rows = MlaRows::nope_rope;
  return e;
}

Era flat() {
  Era e = version_8();
  e.name = "9/2-flat";
  e.summary = "no stream count, cells of slot files name no sequence";
  e.from = "2024-09-08";
  e.until = "2025-02-20";
  e.first_build = e.last_build = 4748;
  e.session_version = 9;
  e.rng_text = false;
  return e;
}

Era with_ids() {
  Era e = flat();
  e.name = "9/2-ids";
  e.summary = "no stream count, cells of slot files name their sequence";
  e.from = "2025-06-01";
  e.until = "2025-06-30";
  e.first_build = 5590;
  e.last_build = 5640;
  e.sequence_ids = true;
  e.mla_rows = MlaRows::unknown;
  return e;
}

Era with_streams() {
  Era e = with_ids();
  e.name = "9/2-streams";
  e.summary = "stream counts; MLA caches store V, deepseek2 has rope before nope";
  e.from = "2025-08-01";
  e.until = "2025-12-31";
  e.first_build = 6122;
  e.last_build = 7347;
  e.streams = true;
  e.mla_rows = MlaRows::rope_nope;
  return e;
}

Era mla_k_only() {
  Era e = with_streams();
  e.name = "9/2-mla";
  e.summary = "MLA caches without V, sessions still with outputs";
  e.from = "2026-02-01";
  e.until = "2026-02-19";
  e.first_build = e.last_build = 7836;
  e.mla_without_v = true;
  e.mla_rows = MlaRows::nope_rope;
  return e;
}

Era without_outputs() {
  Era e = mla_k_only();
  e.name = "9/2-no-outputs";
  e.summary = "sessions without outputs, logits and embeddings";
  e.from = e.until = "2026-03-01";
  e.first_build = e.last_build = 0;
  e.outputs = false;
  e.dies_on_short_file = true;
  return e;
}

Era with_xy() {
  Era e = without_outputs();
  e.name = "9/2-xy";
  e.summary = "cells of M-RoPE models carry x and y";
  e.from = e.until = "2026-03-31";
  e.first_build = e.last_build = 8390;
  e.extension = CellExtension::xy;
  return e;
}

Era rotated() {
  Era e = with_xy();
  e.name = "9/2-rotated";
  e.summary = "quantized rows of heads of 64, 128 ... are stored rotated";
  e.from = "2026-04-02";
  e.until = "2026-05-31";
  e.first_build = 9084;
  e.last_build = 9254;
  e.rotates = true;
  e.prefix = true;
  return e;
}

Era cut_to_window() {
  Era e = rotated();
  e.name = "9/2-window-cut";
  e.summary = "slot files of window caches hold only the window";
  e.from = "2026-07-01";
  e.until = "2026-08-25";
  e.first_build = 10068;
  e.last_build = 10361;
  e.window_cut = true;
  return e;
}

Era version_10() {
  Era e = cut_to_window();
  e.name = "10/3";
  e.summary = "cells of M-RoPE and n-gram models carry x, y and token";
  e.from = "2026-08-27";
  e.until = "2026-09-30";
  e.first_build = 10645;
  e.last_build = 11118;
  e.session_version = 10;
  e.slot_version = 3;
  e.extension = CellExtension::xy_token;
  e.payload = true;
  return e;
}

Era version_11() {
  Era e = version_10();
  e.name = "11/4";
  e.summary = "caches say how they are rotated, slot files carry checkpoints";
  e.from = "2026-10-10";
  e.until = "2026-11-30";
  e.first_build = e.last_build = 11669;
  e.session_version = 11;
  e.slot_version = 4;
  e.rotation_words = true;
  e.checkpoints = true;
  return e;
}

}  // namespace

const std::vector<Era>& eras() {
  static const std::vector<Era> all = {version_8(),    flat(),       with_ids(),
                                       with_streams(), mla_k_only(), without_outputs(),
                                       with_xy(),      rotated(),    cut_to_window(),
                                       version_10(),   version_11()};
  return all;
}

namespace {

std::uint32_t version_in(const Era& era, Container container) {
  return container == Container::session ? era.session_version : era.slot_version;
}

// The newest of before August 2024: slot files of version 1 are the same in all of them.
const Era* old_era_of_version(Container container, std::uint32_t version) {
  const std::vector<Era>& old = old_eras();
  if (container == Container::slot && version == 0) return nullptr;  // stands for none
  const auto found = std::find_if(old.rbegin(), old.rend(), [&](const Era& era) {
    return version_in(era, container) == version;
  });
  return found == old.rend() ? nullptr : &*found;
}

}  // namespace

const Era& era_of_version(Container container, std::uint32_t version) {
  const char* magic = container == Container::session ? "ggsn" : "ggsq";
  if (const Era* old = old_era_of_version(container, version)) return *old;
  std::vector<const Era*> fit;
  for (const Era& era : eras())
    if (version_in(era, container) == version) fit.push_back(&era);
  if (fit.size() == 1) return *fit.front();
  if (fit.empty())
    throw Error(ErrorKind::usage,
                fmt::format("{} {} is not a version that kvtool knows", magic, version));
  std::string names;
  for (const Era* era : fit)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", era->name, era->summary);
  throw Error(ErrorKind::usage,
              fmt::format("{} {} was the number of several layouts; name one with --loader: {}",
                          magic, version, names));
}

}  // namespace kvtool
