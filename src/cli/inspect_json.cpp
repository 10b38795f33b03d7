#include "cli/inspect_json.h"

#include "cli/companions.h"
#include "cli/summary.h"
#include "kvtool/facts.h"
#include "kvtool/map.h"
#include "kvtool/pack.h"
#include "kvtool/rotation_evidence.h"

namespace kvtool::cli {
namespace {

Json packing_json(const Packing& packing) {
  Json json = {{"form", name_of(packing.form)}, {"size", packing.packed_size}};
  json["base"] = packing.base_name.empty() ? Json(nullptr) : Json(packing.base_name);
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json tokens_json(const TokenArea& tokens) {
  Json json;
  json["count"] = tokens.ids.size();
  json["stored_words"] = tokens.words.size();
  json["payload"] = tokens.form == TokenForm::payload;
  json["media"] = Json::array();
  for (const MediaSpan& span : tokens.media)
    json["media"].push_back({{"kind", span.kind},
                             {"start", span.start},
                             {"tokens", span.tokens},
                             {"positions", span.positions},
                             {"id", span.id}});
  if (!tokens.problem.empty()) json["problem"] = tokens.problem;
  return json;
}

Json sequence_json(const SequenceFacts& facts) {
  Json json;
  json["id"] = or_null(facts.id);
  json["cells"] = facts.cells;
  json["pos_min"] = facts.pos_min;
  json["pos_max"] = facts.pos_max;
  json["holes"] = facts.holes;
  json["missing"] = Json::array();
  for (const PositionRange& gap : facts.missing) json["missing"].push_back({gap.begin, gap.end});
  json["runs"] = facts.runs;
  return json;
}

Json stream_json(const Stream& stream, bool recurrent, bool one_sequence) {
  Json json;
  json["cells"] = stream.cells.size();
  json["sequences"] = Json::array();
  for (SequenceFacts& facts : sequences_of(stream, one_sequence)) {
    if (recurrent) {  // a cell is the state after a position: nothing is missing before it
      facts.missing.clear();
      facts.holes = 0;
    }
    json["sequences"].push_back(sequence_json(facts));
  }
  return json;
}

void put_tensor(Json& json, const std::string& name, const Tensor& tensor) {
  const bool stored = tensor.orientation != Orientation::absent;
  json[name + "_type"] = stored ? Json(std::string(info(tensor.type).name)) : Json(nullptr);
  json[name + "_width"] = tensor.cell_elements();
  json[name + "_row_bytes"] = tensor.cell_bytes();
}

Json layer_json(const Layer& layer) {
  Json json;
  put_tensor(json, "k", layer.k);
  put_tensor(json, "v", layer.v);
  if (layer.ple.orientation != Orientation::absent) json["ple_row_bytes"] = layer.ple.row_bytes;
  return json;
}

Json memory_json(const Memory& memory, const Dialect& dialect, bool one_sequence) {
  Json json;
  json["kind"] = name_of(memory.kind);
  json["role"] = memory.role;
  if (memory.kind == MemoryKind::recurrent) json["model_layers"] = memory.model_layers;
  json["v_layout"] = v_layout_of(memory);
  const auto rotation = rotation_of(memory, dialect);
  json["rotation"] = rotation ? Json{{"k", rotation->k}, {"v", rotation->v}} : Json(nullptr);
  json["bytes_per_cell"] = bytes_per_cell(memory, dialect);
  json["streams"] = Json::array();
  for (const Stream& stream : memory.streams)
    json["streams"].push_back(
        stream_json(stream, memory.kind == MemoryKind::recurrent, one_sequence));
  json["layers"] = Json::array();
  if (const Stream* shape = stream_with_layers(memory))
    for (const Layer& layer : shape->layers) json["layers"].push_back(layer_json(layer));
  for (const Block& block : memory.blocks)
    json["blocks"].push_back(
        {{"label", block.label}, {"offset", block.extent.offset}, {"size", block.extent.size}});
  return json;
}

Json state_json(const State& state, const Dialect& dialect, bool one_sequence) {
  Json json = Json::array();
  for (const Memory& memory : state.memories)
    json.push_back(memory_json(memory, dialect, one_sequence));
  return json;
}

Json blob_json(const Blob& blob) {
  Json json;
  json["offset"] = blob.extent.offset;
  json["size"] = blob.extent.size;
  if (blob.state) {
    json["arrangement"] = blob.state->arrangement;
    json["memories"] = state_json(*blob.state, blob.dialect, true);
  }
  if (!blob.problem.empty()) json["problem"] = blob.problem;
  return json;
}

Json checkpoint_json(const Checkpoint& checkpoint, std::size_t index) {
  Json json;
  json["kind"] = "checkpoint";
  json["index"] = index;
  json["tokens"] = checkpoint.tokens;
  json["pos_min"] = checkpoint.pos_min;
  json["pos_max"] = checkpoint.pos_max;
  json["target"] = blob_json(checkpoint.target);
  json["draft"] = blob_json(checkpoint.draft);
  json["speculation"] = blob_json(checkpoint.speculation);
  return json;
}

Json tail_json(const Tail& tail) {
  Json json = Json::array();
  for (std::size_t i = 0; i < tail.checkpoints.size(); ++i)
    json.push_back(checkpoint_json(tail.checkpoints[i], i));
  if (tail.has_draft)
    json.push_back({{"kind", "draft"},
                    {"state", blob_json(tail.draft)},
                    {"speculation", blob_json(tail.draft_speculation)}});
  if (tail.trailing.size > 0)
    json.push_back(
        {{"kind", "trailing"}, {"offset", tail.trailing.offset}, {"size", tail.trailing.size}});
  return json;
}

Json sections_json(const Dump& dump) {
  Json json = Json::array();
  for (const MapRange& range : sections_of(dump))
    json.push_back({{"label", range.label}, {"offset", range.offset}, {"size", range.size}});
  return json;
}

Json evidence_json(const Dump& dump) {
  Json json = Json::array();
  if (packing_of(*dump.source)) return json;  // no more is unpacked than the metadata
  for (const CacheEvidence& e : rotation_evidence(dump))
    json.push_back({{"memory", e.memory},
                    {"cells", e.cells},
                    {"block", e.block},
                    {"ratio", or_null(e.ratio)},
                    {"verdict", name_of(e.verdict)},
                    {"reason", e.reason}});
  return json;
}

}  // namespace

Json finding_json(const Finding& finding) {
  return {{"severity", name_of(finding.severity)},
          {"code", finding.code},
          {"where", finding.where},
          {"message", finding.message}};
}

Json inspect_json(const Dump& dump) {
  const ByteFigures bytes = byte_figures(dump);
  Json json = json_document(dump.source->name());
  json["size"] = dump.source->size();
  if (const auto packing = packing_of(*dump.source)) json["packed"] = packing_json(*packing);
  json["kind"] = kind_of(dump);
  json["family"] = name_of(dump.dialect.family);
  json["version"] = dump.dialect.version == 0 ? Json(nullptr) : Json(dump.dialect.version);
  json["layout"] = dump.layout;
  json["why"] = dump.why;
  if (dump.dialect.family == Family::ik_llama) json["companions"] = companions_of(dump);
  if (!dump.header.empty()) json["header_bytes"] = dump.header.size();
  if (!dump.state.type_readings.empty()) {
    json["types_uncertain"] = dump.state.types_uncertain;
    for (const TypeReading& reading : dump.state.type_readings)
      json["type_readings"].push_back({{"k", std::string(info(reading.k).name)},
                                       {"v", std::string(info(reading.v).name)},
                                       {"k_plausible", reading.k_plausible},
                                       {"v_plausible", reading.v_plausible}});
  }
  json["arch"] = or_null(dump.arch);
  json["source_sequence"] = or_null(dump.state.source_sequence);
  json["tokens"] = tokens_json(dump.tokens);
  json["memories"] = state_json(dump.state, dump.dialect, holds_one_sequence(dump));
  json["rotation_evidence"] = evidence_json(dump);
  json["tail"] = tail_json(dump.tail);
  json["sections"] = sections_json(dump);
  json["fixed_bytes"] = bytes.fixed;
  json["bytes_per_cell"] = bytes.per_cell;
  json["notes"] = dump.notes;
  json["warnings"] = Json::array();
  for (const Finding& finding : check(dump))
    if (finding.severity != Severity::note) json["warnings"].push_back(finding_json(finding));
  return json;
}

}  // namespace kvtool::cli
