#include "convert/dialect.h"

#include "format/container.h"
#include "format/dialect.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

// Version words of the two containers that belong together in time.
std::uint32_t other_version(Container from, std::uint32_t version) {
  if (from == Container::session) return version >= 10 ? version - 7 : 2;
  return version >= 3 ? version + 7 : 9;
}

// Cells of slot files name their sequence since about April 2025, which no session shows. But there
// are no caches beside each other in one state of before.
bool names_sequence(const Dump& dump) {
  std::size_t caches = 0;
  for (const Memory& memory : dump.state.memories)
    if (memory.kind == MemoryKind::attention) ++caches;
  return dump.dialect.streams || (caches > 1 && !dump.dialect.rng_text);
}

// The same dialect in the other kind of file.
Dialect in_container(const Dump& source, Container container) {
  Dialect dialect = source.dialect;
  if (dialect.container == container) return dialect;
  if (format::holds_one_sequence(Dialect{.container = container}) &&
      !format::holds_one_sequence(dialect))
    dialect.sequence_ids = names_sequence(source);
  if (dialect.version != 0) dialect.version = other_version(dialect.container, dialect.version);
  dialect.container = container;
  if (container != Container::sequence_state) dialect.prefix = false;
  if (container == Container::slot) dialect.rng_text = dialect.outputs = false;
  return dialect;
}

// Sessions 5 to 7 have the slot files of version 1 beside them, but not of recurrent states.
bool had_slots(const Dump& source) {
  const Body body = source.dialect.body;
  return (body == Body::output_ids || body == Body::v_flag) && source.state.arrangement == "kv";
}

bool has_extension(const Dump& source, const Target& target) {
  if (target.model && target.model->needs_extension) return *target.model->needs_extension;
  return source.dialect.extension != CellExtension::none;
}

Dialect of_era(const Era& era, Container container, bool extended) {
  const bool session = container == Container::session || container == Container::state;
  Dialect d;
  d.container = container;
  if (container == Container::session) d.version = era.session_version;
  if (container == Container::slot) d.version = era.slot_version;
  d.rng_text = session && era.rng_text;
  d.outputs = session && era.outputs;
  d.streams = era.streams;
  d.sequence_ids = era.sequence_ids;
  d.rotation = era.rotation_words;
  d.prefix = container == Container::sequence_state && era.prefix;
  d.extension = extended ? era.extension : CellExtension::none;
  return d;
}

}  // namespace

Dialect target_dialect(const Dump& source, const Target& target) {
  const Container container = target.container.value_or(source.dialect.container);
  if (target.era) return of_era(*target.era, container, has_extension(source, target));
  const bool other = source.dialect.body != Body::current || source.dialect.family != Family::llama_cpp;
  if (container == Container::slot && had_slots(source)) return format::slot_dialects(1).front();
  if (other && container != source.dialect.container)
    throw Error(ErrorKind::usage,
                "files of before August 2024 and of ik_llama.cpp become another kind of file only for "
                "a loader of llama.cpp: say --loader or --to");
  return in_container(source, container);
}

std::string dialect_name(const Dialect& dialect) { return format::name_of(dialect); }

}  // namespace kvtool::convert_steps
