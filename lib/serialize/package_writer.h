// SPDX-License-Identifier: BSD-3-Clause
// Writes several shim buffers as one package, version 5 (lib/format/package_format.h): weights whose bytes are equal
// are there once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/serialize/shim_buffer_writer.h"

namespace nnapi_convert {

struct NamedBuffer {
  std::string name;
  const ShimBuffer& buffer;
};

// A buffer's place in the package.
struct PackagePlace {
  size_t first_word = 0, word_count = 0;
  uint64_t weight_begin = 0, weight_bytes = 0;  // its part of the package's weights; others may share it
  uint64_t own_bytes = 0;                       // the bytes of weights that no earlier buffer has
};

struct PackageBuffer {
  std::vector<int32_t> words;  // without the checksums
  std::vector<PackagePlace> places;
  std::vector<PlacedWeight> weights;  // in ascending order of offsets
  uint64_t weight_bytes = 0;
};

// Makes a package; reads all weights, one or two at a time. Throws ConvertError (kUsage) for too many buffers or too
// long names.
PackageBuffer write_package(const std::vector<NamedBuffer>& buffers);

// Writes the package's weights as write_weights() does for a buffer. Returns the CRC-32 of each buffer's part.
std::vector<uint32_t> write_weights(PackageBuffer& package, bool releases, const nnapi::ByteSink& sink);

// Writes the checksums of the buffers and of the package into the words.
void seal_package(const std::vector<PackagePlace>& places, const std::vector<uint32_t>& weight_checksums,
                  int32_t* words, size_t count);

}  // namespace nnapi_convert
