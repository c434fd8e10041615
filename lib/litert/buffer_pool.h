// SPDX-License-Identifier: BSD-3-Clause
// The data of a file: equal constants share a buffer.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/litert/file.h"

namespace nnapi_convert::litert {

class BufferPool {
 public:
  explicit BufferPool(std::vector<Buffer>& buffers) : buffers_(buffers) {}

  // Return the number of a buffer that holds these data.
  size_t add(const std::string& bytes);
  size_t add(const std::vector<nnapi::Constant>& parts, bool shifts_sign, bool is_symmetric = false);

 private:
  std::vector<Buffer>& buffers_;
  std::map<std::string, size_t> small_;
  std::unordered_multimap<size_t, size_t> large_;  // by the hash of the first part
};

}  // namespace nnapi_convert::litert
