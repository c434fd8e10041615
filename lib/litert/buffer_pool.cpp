// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/buffer_pool.h"

#include <algorithm>

namespace nnapi_convert::litert {

size_t BufferPool::add(const std::string& bytes) {
  const auto [known, is_new] = small_.try_emplace(bytes, buffers_.size());
  if (is_new) {
    buffers_.emplace_back();
    buffers_.back().bytes = bytes;
  }
  return known->second;
}

size_t BufferPool::add(const std::vector<nnapi::Constant>& parts, bool shifts_sign, bool is_symmetric) {
  const size_t hash = parts.front().sample_hash();
  const auto [begin, end] = large_.equal_range(hash);
  const auto same = std::find_if(begin, end, [&](const auto& each) {
    const Buffer& buffer = buffers_[each.second];
    return buffer.shifts_sign == shifts_sign && buffer.is_symmetric == is_symmetric && buffer.parts == parts;
  });
  if (same != end) return same->second;
  large_.emplace(hash, buffers_.size());
  buffers_.emplace_back();
  buffers_.back().parts = parts;
  buffers_.back().shifts_sign = shifts_sign;
  buffers_.back().is_symmetric = is_symmetric;
  return buffers_.size() - 1;
}

}  // namespace nnapi_convert::litert
