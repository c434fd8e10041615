// SPDX-License-Identifier: BSD-3-Clause
// The record of an archive that tells how pictures become the model's input (schemas/nnapi_extras.md).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "lib/format/picture_input.h"

namespace nnapi_convert::picture_record {

constexpr const char* kRecord = "extra/nnapi_shim.pictures";
constexpr uint32_t kVersion = 1;  // a reader refuses another one

enum Flags : uint32_t {
  kBgr = 1,    // the model takes blue first
  kBytes = 2,  // it takes the bytes of pixels, channels last, and normalises them itself
};
constexpr uint32_t kMostSide = 100'000;
constexpr size_t kMostPath = 1024;

// The record's beginning, little-endian. Behind it, up to the record's end, stands the path of the argument that takes
// pictures, "x" or "images[0]"; it may be empty.
struct Record {
  uint32_t version = kVersion, flags = 0;
  uint32_t resize = 0, crop = 0;                   // 0: none
  uint32_t channels = 3;                           // 1 or 3; with kBytes also 4
  uint32_t rank = 4;                               // of forward's argument: 4, or 3 without a batch
  uint32_t height = 0, width = 0;                  // of that argument; 0: free
  double pixel_max = 1;                            // only for float inputs
  double mean[3] = {0, 0, 0}, std[3] = {1, 1, 1};  // only for float inputs

  bool takes_bytes() const { return (flags & kBytes) != 0; }
};
static_assert(sizeof(Record) == 88);

// Returns false for bytes that are no such record.
inline bool read(const void* bytes, size_t size, Record* record) {
  if (size < sizeof(Record) || size > sizeof(Record) + kMostPath) return false;
  std::memcpy(record, bytes, sizeof(Record));
  if (std::memchr(static_cast<const uint8_t*>(bytes) + sizeof(Record), 0, size - sizeof(Record)) != nullptr)
    return false;
  const auto is_side = [](uint32_t side) { return side <= kMostSide; };
  bool is_good = record->version == kVersion && is_side(record->resize) && is_side(record->crop) &&
                 record->height <= pictures::kMostSide && record->width <= pictures::kMostSide;
  is_good =
      is_good && (record->channels == 1 || record->channels == 3 || (record->channels == 4 && record->takes_bytes()));
  is_good =
      is_good && (record->rank == 3 || record->rank == 4) && record->pixel_max > 0 && std::isfinite(record->pixel_max);
  for (size_t i = 0; i < 3; ++i) {
    is_good = is_good && std::isfinite(record->mean[i]) && std::isfinite(record->std[i]) && record->std[i] > 0;
  }
  return is_good;
}

inline pictures::Preparation preparation_of(const Record& record) {
  pictures::Preparation how;
  how.resize = record.resize;
  how.crop = record.crop;
  how.pixel_max = record.pixel_max;
  std::memcpy(how.mean, record.mean, sizeof how.mean);
  std::memcpy(how.std, record.std, sizeof how.std);
  how.is_bgr = (record.flags & kBgr) != 0;
  return how;
}

}  // namespace nnapi_convert::picture_record
