#include "cli/print.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "io/disk.h"
#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

// Text that nobody reads any more, as with `| head`, is no error to tell: kvtool ends as other filters
// do. Of a dump that is cut off there the writer tells, as of any other that could not be written.
[[noreturn]] void fail_to_print() {
  if (errno == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw Error(ErrorKind::io, system_message()).in_file("<stdout>");
}

}  // namespace

void Printer::json(const Json& value, bool one_line) {
  // Names of files need not be UTF-8; what is not becomes U+FFFD.
  text_ += value.dump(one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace);
  text_ += '\n';
  if (text_.size() > most_pending) flush();
}

void Printer::text(const std::string& lines) {
  text_ += lines;
  if (text_.size() > most_pending) flush();
}

void Printer::flush() {
  if (std::fwrite(text_.data(), 1, text_.size(), stdout) != text_.size()) fail_to_print();
  text_.clear();
}

void Printer::finish() {
  flush();
  if (std::fflush(stdout) != 0) fail_to_print();
}

Json json_document(const std::string& file) {
  Json document;
  document["schema"] = "kvtool/1";
  document["file"] = file;
  return document;
}

std::string printable(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '\\';
    safe += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return safe;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string counted(std::uint64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace kvtool::cli
