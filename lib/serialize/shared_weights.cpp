// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/shared_weights.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/format/buffer_format_v2.h"
#include "lib/nnapi/constant_map.h"
#include "lib/serialize/rounded_up.h"

namespace nnapi_convert {
namespace {

namespace format = buffer_format_v2;

constexpr size_t kLeastBytes = 4096;  // smaller weights, such as equal biases, don't justify mapping others' weights

// Returns for each buffer the lowest buffer with which it shares weights.
std::vector<size_t> first_sharers(const std::vector<ShimBuffer*>& buffers) {
  std::vector<size_t> first(buffers.size());
  std::iota(first.begin(), first.end(), size_t{0});
  nnapi::ConstantMap<size_t> known;  // by weight: the first buffer that has it
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (const PlacedWeight& weight : buffers[i]->weights) {
      if (weight.value.byte_count() < kLeastBytes) continue;
      const size_t* other = known.find(weight.value);
      if (other == nullptr) {
        known.add(weight.value, i);
        continue;
      }
      const size_t from = std::max(first[i], first[*other]), to = std::min(first[i], first[*other]);
      std::replace(first.begin(), first.end(), from, to);
    }
  }
  return first;
}

// Gives each buffer of a group all weights of the group.
void join_weights(const std::vector<ShimBuffer*>& group) {
  std::vector<PlacedWeight> all;
  uint64_t bytes = 0;
  nnapi::ConstantMap<uint64_t> places;
  for (ShimBuffer* buffer : group) {
    std::vector<uint64_t> offsets;
    for (const PlacedWeight& weight : buffer->weights) {
      if (const uint64_t* place = places.find(weight.value)) {
        offsets.push_back(*place);
        continue;
      }
      places.add(weight.value, bytes);
      offsets.push_back(bytes);
      all.push_back({weight.value, bytes});
      bytes += rounded_up(weight.value.byte_count(), format::kWeightAlignment);
    }
    for (const WeightWord& each : buffer->weight_words) put_long(&buffer->words[each.word], offsets[each.weight]);
    buffer->weights.clear();
    buffer->weight_words.clear();
  }
  for (ShimBuffer* buffer : group) {
    buffer->weight_bytes = bytes;
    put_long(&buffer->words[format::kWeightBytesLow], bytes);
  }
  group[0]->weights = std::move(all);
}

}  // namespace

std::vector<std::vector<size_t>> share_weights(const std::vector<ShimBuffer*>& buffers) {
  const std::vector<size_t> first = first_sharers(buffers);
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (first[i] != i) continue;
    std::vector<size_t> numbers;
    std::vector<ShimBuffer*> group;
    for (size_t k = i; k < buffers.size(); ++k) {
      if (first[k] != i) continue;
      numbers.push_back(k);
      group.push_back(buffers[k]);
    }
    if (group.size() > 1) join_weights(group);
    groups.push_back(std::move(numbers));
  }
  return groups;
}

}  // namespace nnapi_convert
