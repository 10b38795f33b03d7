#include "cli/check_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvtool::cli {
namespace {

const char* what_is_seen(const Restore& restore) {
  switch (restore.next) {
    case Aftermath::reused: return "loads: restored and reused";
    case Aftermath::recomputed: return "loads: restored and computed again";
    case Aftermath::wrong_text: return "loads, and the text is wrong";
    case Aftermath::dies: return "loads, and the server dies at the next request";
    case Aftermath::nothing: break;
  }
  switch (restore.outcome) {
    case Outcome::dies: return "the server dies, with all its slots";
    case Outcome::hangs: return "the server never answers again";
    default: break;
  }
  return restore.container == Container::session ? "refused"
                                                 : "refused, and the slot is empty afterwards";
}

std::string placed(const std::string& where, const std::string& message) {
  return where.empty() ? message : fmt::format("{}: {}", where, message);
}

}  // namespace

Forecast forecast(const Source& file, const Dump* dump, const TargetOptions& options) {
  const Target target = resolve(options);
  Forecast result;
  result.restore = predict_restore(file, dump, target);
  result.loader = target.era->name;
  if (!options.loader.empty() && options.loader != result.loader)
    result.loader = fmt::format("{} ({})", options.loader, result.loader);
  return result;
}

void add_findings(const Forecast& forecast, std::vector<Finding>& known) {
  for (const Finding& finding : forecast.restore.warnings)
    if (std::none_of(known.begin(), known.end(),
                     [&](const Finding& other) { return other.code == finding.code; }))
      known.push_back(finding);
  std::stable_sort(known.begin(), known.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

void print_text(const Forecast& forecast, Printer& out) {
  std::string kind = name_of(forecast.restore.outcome);
  for (const Reason& reason : forecast.restore.reasons) {
    out.line("{}: {} [{}]", std::exchange(kind, "refused"), placed(reason.where, reason.message),
             reason.code);
    if (!reason.log.empty()) out.line("  the loader says: {}", reason.log);
  }
  for (const std::string& what : forecast.restore.unchecked) out.line("not compared: {}", what);
  if (!forecast.restore.certain)
    out.line("not certain: the loader goes on with left-over memory behind the end of the file");
}

std::string verdict(const Forecast& forecast) {
  return fmt::format("for {}: {}", forecast.loader, what_is_seen(forecast.restore));
}

Json forecast_json(const Forecast& forecast) {
  const Restore& restore = forecast.restore;
  Json json;
  json["loader"] = forecast.loader;
  json["outcome"] = name_of(restore.outcome);
  json["next_request"] = name_of(restore.next);
  json["certain"] = restore.certain;
  json["tokens_restored"] = restore.tokens;
  json["tokens_reused"] = restore.reused;
  json["reasons"] = Json::array();
  for (const Reason& reason : restore.reasons)
    json["reasons"].push_back({{"code", reason.code},
                               {"where", reason.where},
                               {"message", reason.message},
                               {"loader_says", reason.log}});
  json["not_compared"] = restore.unchecked;
  return json;
}

}  // namespace kvtool::cli
