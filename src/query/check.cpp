#include "kvtool/check.h"

#include <algorithm>

#include "query/findings.h"

namespace kvtool {

std::vector<Finding> check(const Dump& dump, const CheckOptions& options) {
  Findings findings;
  check_tokens(dump, findings);
  check_cells(dump, findings);
  check_rows(dump, findings);
  check_tail(dump, findings);
  if (options.deep) check_rotation(dump, findings);
  if (options.deep) check_values(dump, findings);
  std::vector<Finding> list = findings.take();
  std::stable_sort(list.begin(), list.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return list;
}

std::string name_of(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return {};
}

}  // namespace kvtool
