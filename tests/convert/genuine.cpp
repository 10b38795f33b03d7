#include "convert/genuine.h"

#include <map>

#include "format/corpus/sidecar.h"
#include "kvtool/error.h"

namespace kvtool::test {
namespace {

namespace fs = std::filesystem;

std::string text_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string model_of(const Json& json) {
  const auto params = json.find("params");
  if (params != json.end() && params->is_object()) return text_at(*params, "model");
  return fs::path(text_at(json, "model")).filename().string();
}

// What the writer's live memory or its description say.
std::optional<bool> rotated(const Json& json) {
  if (json.contains("rotated") && json["rotated"].is_boolean()) return json["rotated"].get<bool>();
  const auto memory = json.find("memory");
  if (memory == json.end() || !memory->is_array() || memory->empty()) return std::nullopt;
  const auto flag = memory->front().find("attn_rot_k");
  if (flag == memory->front().end() || !flag->is_boolean()) return std::nullopt;
  return flag->get<bool>();
}

bool is_quantized(const Dump& dump) {
  bool any = false;
  for_each_stream(dump, [&](const Stream& stream) {
    for (const Layer& layer : stream.layers) any = any || info(layer.k.type).block_elements > 1;
  });
  return any;
}

// Older sidecars are of times without rotation.
StatedRotation stated_rotation(const Json& json) {
  return rotated(json).value_or(false) ? StatedRotation::hadamard : StatedRotation::none;
}

std::optional<SequenceId> sequence_in(const Json& json, const Dump& dump) {
  const auto id = json.find("seq_id");
  if (id != json.end() && id->is_number()) return id->get<SequenceId>();
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t cell = 0; cell < stream.cells.size(); ++cell)
        if (!stream.cells.sequences(cell).empty()) return stream.cells.sequences(cell)[0];
  return std::nullopt;
}

// Sources in npm packages have no build number of llama.cpp's; the days of their trees are known.
std::string loader_of(const fs::path& path, const Json& json) {
  static const std::map<std::string, std::string> folders = {
      {"rn-0.6.7", "9/2-streams"}, {"rn-0.11.0", "9/2-mla"}, {"rn-0.11.5", "9/2-no-outputs"},
      {"b9254", "b9254"},          {"b10256", "b10256"}};
  const auto folder = folders.find(path.parent_path().filename().string());
  if (folder != folders.end()) return folder->second;
  const auto source = json.find("source");
  if (source == json.end() || !source->is_object()) return {};
  const std::string build = text_at(*source, "llama_cpp") + text_at(*source, "llama_cpp_build");
  return build == "b8121" ? "9/2-no-outputs" : build;
}

std::optional<Genuine> read(const fs::path& path, const Sidecar& sidecar) {
  Genuine file;
  file.path = path;
  file.model = model_of(sidecar.json);
  if (file.model.empty()) return std::nullopt;
  file.dump = std::make_shared<Dump>(open_dump(path.string()));
  file.sequence = sequence_in(sidecar.json, *file.dump);
  file.partial = path.string().find("-partial") != std::string::npos;
  file.loader = loader_of(path, sidecar.json);
  file.head_size = sidecar.json.value("head_size", 0U);
  file.rotation = stated_rotation(sidecar.json);
  file.rotation_disabled = path.string().find("norot") != std::string::npos ||
                           (is_quantized(*file.dump) && path.string().find("-plain") != std::string::npos);
  return file;
}

}  // namespace

std::vector<Genuine> genuine_dumps(const fs::path& folder) {
  std::vector<Genuine> files;
  for (const fs::path& path : dumps_below(folder)) {
    const auto sidecar = find_sidecar(path);
    if (!sidecar || is_too_old(*sidecar) || sidecar->family == Family::ik_llama) continue;
    if (auto file = read(path, *sidecar)) files.push_back(std::move(*file));
  }
  return files;
}

std::optional<ModelShape> shape_from_model(const std::string& model, const Era& era) {
  const fs::path path = testdata("models/" + model);
  if (!fs::exists(path)) return std::nullopt;
  static std::map<std::string, Gguf> opened;
  if (opened.find(model) == opened.end()) opened.emplace(model, open_gguf(open_source(path.string())));
  try {
    return shape_of_model(opened.at(model), era);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported) return std::nullopt;
    throw;
  }
}

Target target_of(const Genuine& reference) {
  Target target = target_like(*reference.dump);
  if (reference.rotation_disabled) target.rotation_disabled = true;
  if (!reference.loader.empty()) target.era = era_of_loader(reference.loader);
  if (auto shape = shape_from_model(reference.model, *target.era)) {
    target.model = std::move(shape);
  } else if (reference.head_size != 0) {
    for (CacheShape& cache : target.model->caches) cache.head_k = cache.head_v = reference.head_size;
  }
  return target;
}

}  // namespace kvtool::test
