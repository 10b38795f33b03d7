#include "kvtool/error.h"

#include <fmt/format.h>

#include <utility>

namespace kvtool {
namespace {

// One line: FILE: offset 0x1c: field: message, without the parts that are not known.
std::string one_line(const std::string& file, const std::optional<Place>& place,
                     const std::string& message) {
  std::string line;
  if (!file.empty()) line += file + ": ";
  if (place) line += fmt::format("offset {:#x}: ", place->offset);
  if (place && !place->field.empty()) line += place->field + ": ";
  return line + message;
}

}  // namespace

Error::Error(ErrorKind kind, std::string message)
    : Error(kind, std::string{}, std::nullopt, std::move(message)) {}

Error::Error(ErrorKind kind, Place place, std::string message)
    : Error(kind, std::string{}, std::move(place), std::move(message)) {}

Error::Error(ErrorKind kind, std::string file, std::optional<Place> place, std::string message)
    : std::runtime_error(one_line(file, place, message)),
      kind_(kind),
      file_(std::move(file)),
      place_(std::move(place)),
      message_(std::move(message)) {}

Error Error::in_file(const std::string& name) const {
  return file_.empty() ? Error(kind_, name, place_, message_) : *this;
}

}  // namespace kvtool
