// The one way to report that something is wrong.
//
// An Error is made where the fact is known, with the place in the file that shows it, and travels
// untouched up to the caller (for the command line: main, which prints what() and exits with 2).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace kvtool {

// What kind of trouble it is. The command line gives all of them exit status 2.
enum class ErrorKind {
  usage,        // the request makes no sense (bad option, cell out of range)
  io,           // the operating system said no
  damaged,      // bytes contradict every known layout
  unsupported,  // a known thing that this build does not read or write
  refused,      // possible, but it would lose or invent something
};

// Where in a file a fact was seen: the byte offset and the name of the field there.
struct Place {
  std::uint64_t offset = 0;  // bytes from the start of the (decompressed) file
  std::string field;         // as in kvtool-format(5), e.g. "cell_count"
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message);
  Error(ErrorKind kind, Place place, std::string message);

  // The same error with the name of the file it belongs to; keeps a name that is already there.
  [[nodiscard]] Error in_file(const std::string& name) const;

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::optional<Place>& place() const { return place_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  Error(ErrorKind kind, std::string file, std::optional<Place> place, std::string message);

  ErrorKind kind_;
  std::string file_;
  std::optional<Place> place_;
  std::string message_;
};

}  // namespace kvtool
