// SPDX-License-Identifier: BSD-3-Clause
// Remembers shapes.
#include "lib/shim/shape_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nnapi_shim {
ShapeEntry::ShapeEntry(const CallShapes& shapes) : key(shapes.key()) {}

bool ShapeEntry::has(const CallShapes& shapes) const {
  size_t at = 0;
  for (uint32_t i = 0; i < shapes.count; ++i) {
    const size_t rank = shapes.arguments[i].rank;
    if (key.size() - at < rank + 1 || key[at] != static_cast<int64_t>(rank)) return false;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (key[at + 1 + axis] != shapes.arguments[i].sizes[axis]) return false;
    }
    at += rank + 1;
  }
  return at == key.size();
}

std::shared_ptr<ShapeEntry> ShapeCache::find(const CallShapes& shapes) {
  // Declared before the lock, so that the entries are freed after it is released: drivers may take long to free them.
  Entries dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!(*entry)->has(shapes)) continue;
    if (entry != entries_.begin()) std::rotate(entries_.begin(), entry, entry + 1);
    return entries_.front();
  }
  entries_.insert(entries_.begin(), std::make_shared<ShapeEntry>(shapes));
  std::shared_ptr<ShapeEntry> made = entries_.front();
  dropped = take_excess(false, kMostWithout);
  return made;
}

void ShapeCache::keep_compiled(size_t most) {
  Entries dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  dropped = take_excess(true, most);
}

ShapeCache::Entries ShapeCache::take_excess(bool is_compiled, size_t most) {
  Entries excess;
  size_t count = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if ((*entry)->is_compiled.load(std::memory_order_acquire) == is_compiled && ++count > most) {
      excess.push_back(std::move(*entry));
      entry = entries_.erase(entry);
    } else {
      ++entry;
    }
  }
  return excess;
}

void ShapeCache::drop(const ShapeEntry* entry) {
  std::shared_ptr<ShapeEntry> dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto known = entries_.begin(); known != entries_.end(); ++known) {
    if (known->get() != entry) continue;
    dropped = std::move(*known);
    entries_.erase(known);
    return;
  }
}

}  // namespace nnapi_shim
