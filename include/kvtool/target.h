// The loader that a file is meant for: which layout it reads, and what its context looks like.
//
// A target is put together from a loader's version (a table of releases, builds and dates), from
// options with llama.cpp's own names, from a model file, or from a dump that the target itself
// saved. Whatever is not known stays empty and is asked for where it matters; nothing is guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/gguf.h"
#include "kvtool/open.h"

namespace kvtool {

// How deepseek2 orders the halves of its K rows. No file says it.
enum class MlaRows {
  nope_rope,  // positions last
  rope_nope,  // positions first: July 2025
  unknown,    // of this time only neighbours are known
};

// A stretch of time in which llama.cpp wrote and read one layout, and behaved in one way. Those of
// ik_llama.cpp are its own, and those of before August 2024 cover several header structs each.
struct Era {
  std::string name;               // "11/4", "9/2-streams": for messages, and accepted as a --loader
  std::string summary;            // what marks it, in a few words
  std::string from;               // first day known to be of it, YYYY-MM-DD
  std::string until;              // last day known to be of it
  std::uint32_t first_build = 0;  // first build known to be of this era; 0: none known
  std::uint32_t last_build = 0;   // last build known to be of it; 0: none known
  std::uint32_t session_version = 0;
  std::uint32_t slot_version = 0;
  bool rng_text = false;       // sessions hold the generator's text
  bool outputs = false;        // sessions hold outputs, logits and embeddings
  bool streams = false;        // attention caches begin with n_stream
  bool sequence_ids = false;   // cells of sequence files name the source sequence
  bool mla_without_v = false;  // MLA caches have no V
  CellExtension extension = CellExtension::none;  // of models that need one
  std::optional<bool> rotates;  // quantized rows of heads of 64, 128 ... are stored rotated;
                                // empty only in an era put together from a dump that fits several
  bool rotation_words = false;  // and the file says so
  bool prefix = false;          // sequence states begin with 0xaf143cd8 (for certain since b9084)
  bool window_cut = false;      // window caches are saved without cells outside the window
  bool checkpoints = false;     // its server appends SCKP and SDFT
  bool payload = false;         // its server packs the token area
  bool dies_on_short_file = false;  // a file that ends inside V (or S) kills the process; where
                                    // nobody tried (autumn 2025 to February 2026): false
  MlaRows mla_rows = MlaRows::unknown;
  Family family = Family::llama_cpp;

  // Before August 2024: sessions begin with a header struct, and types are not stored in them.
  [[nodiscard]] bool is_old() const { return session_version < 8; }
};

// All eras of llama.cpp since July 2024, oldest first: those whose loaders `check` knows.
[[nodiscard]] const std::vector<Era>& eras();
// Those before, by session version (0 to 7), oldest first. `slot_version` is 0 where there were no
// slot files yet.
[[nodiscard]] const std::vector<Era>& old_eras();
// Those of ik_llama.cpp, oldest first. Their names begin with "ik-".
[[nodiscard]] const std::vector<Era>& fork_eras();

// A program that loads: its era, and its build as far as it was named.
struct Loader {
  Era era;
  std::optional<std::uint32_t> build;  // number of the commit, as in b10256
};
// The loader called "0.7.0", "v0.4.0", "b10256", "2026-05", "2026-05-17" or, as an era is called,
// "9/2-streams", "6/1" or "ik-10/4"; "ik_llama.cpp" is the newest of its own. Throws Error(usage) for
// what is none of these, for builds before July 2024, days before April 2023, times after the newest
// that is known, and for a build, day or month in which the layout changed or that lies between the
// last known of one era and the first known of the next, naming both. `option` is what such messages
// call the place where the name was given.
[[nodiscard]] Loader loader_named(const std::string& name,
                                  const std::string& option = "--loader");
// Its era alone.
[[nodiscard]] const Era& era_of_loader(const std::string& loader);
// The era of llama.cpp whose sessions or slot files have this version. Throws Error(usage) for an
// unknown version and for those that covered several layouts (ggsn 9, ggsq 2), with the choices.
[[nodiscard]] const Era& era_of_version(Container container, std::uint32_t version);
// True when a program of the era can have written the dump.
[[nodiscard]] bool can_have_written(const Era& era, const Dump& dump);
// The era in which a dump can have been written. Where several fit, their common ground: `rotates`
// and `mla_rows` say so when they differ, the rest is the newest's, and the name is "A to B".
// Throws Error(unsupported) when none fits.
[[nodiscard]] Era era_of_dump(const Dump& dump);

// One stored layer of one cache as a loader expects it; widths in elements.
struct LayerShape {
  std::uint64_t k_width = 0;
  std::uint64_t v_width = 0;  // 0: no V is stored
  bool operator==(const LayerShape&) const = default;
};

// One attention cache of the target's context.
struct CacheShape {
  std::string role;                // as Memory::role
  bool known = true;               // false: a dump with an empty cache shows no layers
  std::vector<LayerShape> layers;  // in file order
  std::uint32_t head_k = 0;        // elements of one head of K; 0: not known
  std::uint32_t head_v = 0;
  std::uint32_t window = 0;  // n_swa in positions; 0: not a window, or not known
};

// The recurrent memory of the target's context.
struct RecurrentStateShape {
  std::uint32_t model_layers = 0;   // all layers of the model
  std::uint32_t stored_layers = 0;  // those with a state
  std::uint64_t r_row_bytes = 0;    // R and S are always f32
  std::uint64_t s_row_bytes = 0;
  std::optional<std::uint32_t> ple_layer;  // the stored layer with a PLE row (qwen4exp)
  std::uint64_t ple_row_bytes = 0;
};

// What a model makes of a context's memory.
struct ModelShape {
  std::string arch;         // empty: not known (taken from a slot file)
  std::string arrangement;  // as State::arrangement
  std::vector<CacheShape> caches;
  std::optional<RecurrentStateShape> recurrent;
  std::optional<bool> needs_extension;   // M-RoPE or n-gram models: cells carry x, y (and token)
  std::optional<std::uint64_t> n_vocab;  // ids at and above it are refused
};

// The shape that a model file gives to the contexts of a loader of `era`. Throws Error(unsupported)
// for architectures whose memory kvtool does not know, with the advice to use a dump of the target
// instead (--like).
[[nodiscard]] ModelShape shape_of_model(const Gguf& model, const Era& era);
// The shape that a dump shows. What a dump does not store (heads, window, vocabulary) stays
// unknown.
[[nodiscard]] ModelShape shape_of_dump(const Dump& dump);

// What a bare state of a whole context of before August 2024 needs to be read. Throws
// Error(unsupported) for shapes that no build of that time had, more than one memory for one.
[[nodiscard]] BareShape bare_shape_of(const ModelShape& shape);
// The same for a model file.
[[nodiscard]] BareShape bare_shape_of(const Gguf& model);

struct Target {
  std::optional<Container> container;     // session or slot; empty: as the source
  std::optional<Era> era;                 // empty: as the source
  std::optional<std::uint32_t> build;     // of the loader, where it was named
  std::optional<std::uint32_t> n_ctx;     // --ctx-size; stored in sessions of before August 2024
  std::optional<std::uint32_t> parallel;  // --parallel: number of sequences
  std::optional<bool> unified;            // --kv-unified / --no-kv-unified
  std::optional<std::uint32_t> n_stream;  // seen in a dump of the target
  std::optional<ElementType> type_k;      // --cache-type-k
  std::optional<ElementType> type_v;      // --cache-type-v
  std::optional<bool> flash_attention;    // --flash-attn: on stores V in rows, off transposed
  std::optional<bool> swa_full;           // --swa-full: window caches as large as the others
  std::optional<bool> rotation_disabled;  // LLAMA_ATTN_ROT_DISABLE=1 in the target's environment
  std::optional<ModelShape> model;
  // Rotation widths that a dump of the target shows, one a cache (11 / 4 only).
  std::vector<std::optional<std::pair<std::uint32_t, std::uint32_t>>> rotation;

  // n_stream of every attention cache of the target, as far as it is known: what a dump of it
  // shows, else 1 if unified, of one sequence or older than streams, else one a sequence.
  [[nodiscard]] std::optional<std::uint32_t> streams() const;
  // Rotation widths {K, V} of attention cache number `cache` (of ModelShape::caches), from a dump
  // of the target or by rotation_for; empty when they are not known.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> rotation_of(
      std::size_t cache) const;
};

// Everything that a dump saved by the target tells about it: `check --like`, `convert --like`.
[[nodiscard]] Target target_like(const Dump& reference);

// Rotation widths {K, V} that a loader of `era` uses for a cache with these types; {0, 0} where it
// does not rotate. Empty if that depends on head sizes, or on a time, that are not known.
[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> rotation_for(
    const Era& era, const CacheShape& cache, const std::string& arch, ElementType type_k,
    ElementType type_v);

}  // namespace kvtool
