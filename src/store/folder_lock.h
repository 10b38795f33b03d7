// A lock on a file that every process which uses a store holds: shared to read and to add, alone to
// take away. The kernel releases it when a process dies.
#pragma once

#include <string>

namespace kvtool::store {

class FolderLock {
 public:
  enum class Kind { shared, alone };
  // Waits for the lock. Throws Error(io).
  FolderLock(const std::string& path, Kind kind);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Waits at most `seconds`; without `ok()` afterwards others were busy all the time.
  FolderLock(const std::string& path, Kind kind, double seconds);
  [[nodiscard]] bool ok() const { return held_; }

 private:
  void open(const std::string& path);

  int fd_ = -1;
  bool held_ = false;
};

}  // namespace kvtool::store
