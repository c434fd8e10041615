// SPDX-License-Identifier: BSD-3-Clause
// Computes SHA-256 (FIPS 180-4) for the tokens of cached compilations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_shim {

class Sha256 {
 public:
  static constexpr size_t kDigestBytes = 32;

  Sha256();
  void add(const void* data, size_t bytes);
  // Ends the computation and writes the digest.
  void finish(uint8_t digest[kDigestBytes]);

 private:
  static constexpr size_t kBlockBytes = 64;
  void add_block(const uint8_t* block);

  uint32_t state_[8];
  uint64_t byte_count_ = 0;
  uint8_t rest_[kBlockBytes];  // its first byte_count_ % kBlockBytes bytes wait for a full block
};

}  // namespace nnapi_shim
