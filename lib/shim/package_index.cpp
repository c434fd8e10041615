// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/package_index.h"

#include <cstring>
#include <utility>

#include "lib/format/buffer_format_v2.h"
#include "lib/format/package_format.h"
#include "lib/shim/buffer_layout.h"
#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

namespace package = nnapi_convert::package_format;
namespace buffer_format = nnapi_convert::buffer_format_v2;

uint64_t long_at(const int32_t* words) {
  return static_cast<uint32_t>(words[0]) | uint64_t{static_cast<uint32_t>(words[1])} << 32;
}

bool check_package_header(const std::vector<int32_t>& words, uint64_t weight_bytes, nnapi_shim_error* error) {
  if (words.size() < size_t{package::kHeaderWords} + size_t{buffer_format::kHeaderWords}) {
    return damaged(error, words.size(), "the package ends in its header");
  }
  const auto count = static_cast<uint32_t>(words[package::kWordCount]);
  if (count != words.size()) {
    return damaged(error, package::kWordCount, "%zu words found, %u needed", words.size(), count);
  }
  const uint32_t sum = buffer_checksum(words.data(), words.size());
  if (sum != static_cast<uint32_t>(words[package::kChecksum])) {
    return damaged(error, package::kChecksum, "checksum %08x found, %08x needed", sum,
                   static_cast<uint32_t>(words[package::kChecksum]));
  }
  const auto variants = static_cast<uint32_t>(words[package::kVariantCount]);
  if (variants < 1 || variants > package::kMostVariants) {
    return damaged(error, package::kVariantCount, "%u models found, 1 to %u needed", variants, package::kMostVariants);
  }
  const uint64_t needed = long_at(&words[package::kWeightBytesLow]);
  if (needed != weight_bytes) {
    return damaged(error, package::kWeightBytesLow, "the package goes with %llu bytes of weights, %llu are given",
                   static_cast<unsigned long long>(needed), static_cast<unsigned long long>(weight_bytes));
  }
  return true;
}

// Takes the names, one for each entry, and returns the word behind them; 0 after a failure.
size_t read_names(const std::vector<int32_t>& words, std::vector<PackageEntry>* entries, nnapi_shim_error* error) {
  const size_t begin = package::kHeaderWords + entries->size() * package::kEntryWords;
  const auto bytes = static_cast<uint32_t>(words[package::kTextBytes]);
  if (bytes > package::kMostTextBytes || begin + (bytes + 3) / 4 > words.size()) {
    damaged(error, package::kTextBytes, "%u bytes of names found, at most %u needed", bytes, package::kMostTextBytes);
    return 0;
  }
  const char* text = reinterpret_cast<const char*>(words.data() + begin);
  size_t at = 0;
  for (PackageEntry& entry : *entries) {
    const size_t length = strnlen(text + at, bytes - at);
    if (length == bytes - at) {
      damaged(error, begin, "fewer than %zu names found", entries->size());
      return 0;
    }
    entry.name.assign(text + at, length);
    at += length + 1;
  }
  return begin + (bytes + 3) / 4;
}

// Checks that the buffer begins at `first` and ends within the words, and that its weights lie within those given.
bool read_entry(const std::vector<int32_t>& words, size_t number, size_t first, uint64_t weight_bytes,
                PackageEntry* entry, nnapi_shim_error* error) {
  const size_t at = package::kHeaderWords + number * package::kEntryWords;
  entry->first_word = static_cast<uint32_t>(words[at + package::kFirstWord]);
  entry->word_count = static_cast<uint32_t>(words[at + package::kBufferWords]);
  if (entry->first_word != first || entry->word_count > words.size() - first) {
    return damaged(error, at, "model %zu: %zu words at %zu found, up to %zu at %zu needed", number + 1,
                   entry->word_count, entry->first_word, words.size() - first, first);
  }
  entry->weight_begin = long_at(&words[at + package::kWindowLow]);
  entry->weight_bytes = long_at(&words[at + package::kWindowBytesLow]);
  const bool is_within =
      entry->weight_begin <= weight_bytes && entry->weight_bytes <= weight_bytes - entry->weight_begin;
  if (is_within && entry->weight_begin % package::kWindowAlignment == 0) return true;
  return damaged(error, at + package::kWindowLow,
                 "model %zu: %llu bytes of weights at %llu found, within %llu and at a multiple of %zu needed",
                 number + 1, static_cast<unsigned long long>(entry->weight_bytes),
                 static_cast<unsigned long long>(entry->weight_begin), static_cast<unsigned long long>(weight_bytes),
                 package::kWindowAlignment);
}

}  // namespace

bool is_package(const void* words, size_t word_count) {
  int32_t version = 0;
  if (word_count > 0) std::memcpy(&version, words, sizeof version);
  return version == package::kVersion;
}

bool read_package(const std::vector<int32_t>& words, uint64_t weight_bytes, std::vector<PackageEntry>* entries,
                  nnapi_shim_error* error) {
  entries->clear();
  if (!check_package_header(words, weight_bytes, error)) return false;
  const auto count = static_cast<uint32_t>(words[package::kVariantCount]);
  if (package::kHeaderWords + count * package::kEntryWords > words.size()) {
    return damaged(error, package::kVariantCount, "the package ends in the table of its %u models", count);
  }
  entries->resize(count);
  size_t first = read_names(words, entries, error);
  if (first == 0) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!read_entry(words, i, first, weight_bytes, &(*entries)[i], error)) return false;
    first += (*entries)[i].word_count;
  }
  if (first == words.size()) return true;
  return damaged(error, first, "%zu words behind the last model found, 0 needed", words.size() - first);
}

}  // namespace nnapi_shim
