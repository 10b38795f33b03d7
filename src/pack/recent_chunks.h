// Unpacked chunks that were used last, up to a size.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

#include "pack/container.h"

namespace kvtool::packing {

template <class Name>
class RecentChunks {
 public:
  explicit RecentChunks(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // The chunk of that name, or nullptr; valid until the next call of keep().
  const ByteVector* find(const Name& name) {
    if (!kept_.empty() && kept_.front().name == name) return &kept_.front().raw;
    const auto found = places_.find(name);
    if (found == places_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, found->second);
    return &kept_.front().raw;
  }

  // Keeps a chunk that is not there, and forgets those that were used longest ago.
  const ByteVector& keep(const Name& name, ByteVector raw) {
    while (!kept_.empty() && bytes_ + raw.size() > most_bytes_) drop_last();
    bytes_ += raw.size();
    kept_.push_front({name, std::move(raw)});
    places_[name] = kept_.begin();
    return kept_.front().raw;
  }

 private:
  struct Kept {
    Name name;
    ByteVector raw;
  };

  void drop_last() {
    bytes_ -= kept_.back().raw.size();
    places_.erase(kept_.back().name);
    kept_.pop_back();
  }

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // the last used first
  std::map<Name, typename std::list<Kept>::iterator> places_;
};

}  // namespace kvtool::packing
