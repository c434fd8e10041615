// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/package_writer.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "lib/base/error.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/format/package_format.h"
#include "lib/serialize/checksum.h"
#include "lib/serialize/rounded_up.h"

namespace nnapi_convert {
namespace {

uint32_t checksum_of(const nnapi::Constant& value) {
  uint32_t checksum = 0;
  value.write_to([&](const void* bytes, size_t size) { checksum = add_to_checksum(checksum, bytes, size); });
  return checksum;
}

// Places weights, equal ones once.
class WeightPlaces {
 public:
  explicit WeightPlaces(PackageBuffer& package) : package_(package) {}

  // Returns the offset of each weight of the buffer, and fills its place.
  std::vector<uint64_t> place(const ShimBuffer& buffer, PackagePlace& place) {
    std::vector<uint64_t> offsets;
    std::vector<uint32_t> checksums;
    for (const PlacedWeight& weight : buffer.weights) {
      checksums.push_back(checksum_of(weight.value));
      const PlacedWeight* known = find(weight.value, checksums.back());
      offsets.push_back(known != nullptr ? known->offset : kNew);
    }
    const bool shares = std::any_of(offsets.begin(), offsets.end(), [](uint64_t offset) { return offset != kNew; });
    // The weights of a buffer that shares none begin on a new page, so that they can be mapped alone.
    if (!shares) package_.weight_bytes = rounded_up(package_.weight_bytes, package_format::kWindowAlignment);
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] == kNew) offsets[i] = add(buffer.weights[i].value, checksums[i], place);
    }
    set_window(buffer, offsets, place);
    return offsets;
  }

 private:
  using Key = std::pair<size_t, uint32_t>;  // bytes, checksum
  static constexpr uint64_t kNew = std::numeric_limits<uint64_t>::max();

  const PlacedWeight* find(const nnapi::Constant& value, uint32_t checksum) const {
    const auto [begin, end] = numbers_.equal_range(Key{value.byte_count(), checksum});
    for (auto at = begin; at != end; ++at) {
      const PlacedWeight& other = package_.weights[at->second];
      if (other.value.bytes() == value.bytes()) return &other;
    }
    return nullptr;
  }

  uint64_t add(const nnapi::Constant& value, uint32_t checksum, PackagePlace& place) {
    const uint64_t offset = package_.weight_bytes;
    numbers_.emplace(Key{value.byte_count(), checksum}, package_.weights.size());
    package_.weights.push_back({value, offset});
    package_.weight_bytes += rounded_up(value.byte_count(), buffer_format_v2::kWeightAlignment);
    place.own_bytes += value.byte_count();
    return offset;
  }

  static void set_window(const ShimBuffer& buffer, const std::vector<uint64_t>& offsets, PackagePlace& place) {
    if (offsets.empty()) return;
    const uint64_t page = package_format::kWindowAlignment;
    place.weight_begin = *std::min_element(offsets.begin(), offsets.end()) / page * page;
    uint64_t end = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      const uint64_t bytes = buffer.weights[i].value.byte_count();
      end = std::max(end, offsets[i] + rounded_up(bytes, buffer_format_v2::kWeightAlignment));
    }
    place.weight_bytes = end - place.weight_begin;
  }

  PackageBuffer& package_;
  std::multimap<Key, size_t> numbers_;
};

// Returns the buffer's words with the offsets that its weights have in the package.
std::vector<int32_t> relocated(const ShimBuffer& buffer, const std::vector<uint64_t>& offsets,
                               const PackagePlace& place) {
  std::vector<int32_t> words = buffer.words;
  for (const WeightWord& each : buffer.weight_words) {
    put_long(&words[each.word], offsets[each.weight] - place.weight_begin);
  }
  put_long(&words[buffer_format_v2::kWeightBytesLow], place.weight_bytes);
  return words;
}

bool is_mostly_float(const ShimBuffer& buffer) {
  uint64_t floats = 0, all = 0;
  for (const PlacedWeight& weight : buffer.weights) {
    all += weight.value.byte_count();
    if (weight.value.type() == nnapi::DataType::kFloat32) floats += weight.value.byte_count();
  }
  return 2 * floats > all;
}

// Returns the buffers' order in the file: models of integers first, then models of floats. A model maps everything from
// its first weight to its last, and shares most with models of its kind.
std::vector<size_t> order_in_file(const std::vector<NamedBuffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t number) { return !is_mostly_float(buffers[number].buffer); });
  return order;
}

std::string joined_names(const std::vector<NamedBuffer>& buffers) {
  std::string names;
  for (const NamedBuffer& each : buffers) {
    names += each.name;
    names.push_back('\0');
  }
  if (names.size() <= package_format::kMostTextBytes) return names;
  throw ConvertError(ExitCode::kUsage, fmt::format("--package: its text has {} bytes, at most {} are possible",
                                                   names.size(), package_format::kMostTextBytes));
}

void write_table(const std::string& names, PackageBuffer& package) {
  namespace format = package_format;
  std::vector<int32_t>& words = package.words;
  words[format::kVersionWord] = format::kVersion;
  words[format::kWordCount] = static_cast<int32_t>(words.size());
  words[format::kVariantCount] = static_cast<int32_t>(package.places.size());
  put_long(&words[format::kWeightBytesLow], package.weight_bytes);
  words[format::kTextBytes] = static_cast<int32_t>(names.size());
  size_t at = format::kHeaderWords;
  for (const PackagePlace& place : package.places) {
    words[at + format::kFirstWord] = static_cast<int32_t>(place.first_word);
    words[at + format::kBufferWords] = static_cast<int32_t>(place.word_count);
    put_long(&words[at + format::kWindowLow], place.weight_begin);
    put_long(&words[at + format::kWindowBytesLow], place.weight_bytes);
    at += format::kEntryWords;
  }
  std::memcpy(&words[at], names.data(), names.size());
}

}  // namespace

PackageBuffer write_package(const std::vector<NamedBuffer>& buffers) {
  namespace format = package_format;
  if (buffers.empty() || buffers.size() > format::kMostVariants) {
    throw ConvertError(ExitCode::kUsage, fmt::format("--package: {} models found, 1 to {} are possible", buffers.size(),
                                                     format::kMostVariants));
  }
  const std::string names = joined_names(buffers);
  PackageBuffer package;
  package.words.resize(format::kHeaderWords + buffers.size() * format::kEntryWords + (names.size() + 3) / 4, 0);
  WeightPlaces weights(package);
  package.places.resize(buffers.size());
  std::vector<std::vector<uint64_t>> offsets(buffers.size());
  for (const size_t number : order_in_file(buffers)) {
    offsets[number] = weights.place(buffers[number].buffer, package.places[number]);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    PackagePlace& place = package.places[i];
    const std::vector<int32_t> words = relocated(buffers[i].buffer, offsets[i], place);
    place.first_word = package.words.size();
    place.word_count = words.size();
    package.words.insert(package.words.end(), words.begin(), words.end());
  }
  write_table(names, package);
  return package;
}

std::vector<uint32_t> write_weights(PackageBuffer& package, bool releases, const nnapi::ByteSink& sink) {
  std::vector<uint32_t> checksums(package.places.size(), 0);
  uint64_t end = 0;
  const auto put = [&](const void* bytes, size_t size) {
    for (size_t i = 0; i < package.places.size(); ++i) {
      const PackagePlace& place = package.places[i];
      const uint64_t from = std::max(end, place.weight_begin);
      const uint64_t to = std::min(end + size, place.weight_begin + place.weight_bytes);
      if (from >= to) continue;
      checksums[i] = libdeflate_crc32(checksums[i], static_cast<const char*>(bytes) + (from - end), to - from);
    }
    end += size;
    sink(bytes, size);
  };
  const std::vector<uint8_t> zeros(package_format::kWindowAlignment);
  const auto fill_to = [&](uint64_t begin) {
    NNC_ASSERT(begin - end < zeros.size(), "weights are further apart than their alignment");
    if (begin != end) put(zeros.data(), static_cast<size_t>(begin - end));
  };
  for (PlacedWeight& weight : package.weights) {
    fill_to(weight.offset);
    weight.value.write_to(put);
    if (releases) weight.value.release();
  }
  fill_to(package.weight_bytes);
  return checksums;
}

void seal_package(const std::vector<PackagePlace>& places, const std::vector<uint32_t>& weight_checksums,
                  int32_t* words, size_t count) {
  for (size_t i = 0; i < places.size(); ++i) {
    seal(words + places[i].first_word, places[i].word_count, weight_checksums[i]);
  }
  words[package_format::kChecksum] = 0;
  words[package_format::kChecksum] = static_cast<int32_t>(libdeflate_crc32(0, words, 4 * count));
}

}  // namespace nnapi_convert
