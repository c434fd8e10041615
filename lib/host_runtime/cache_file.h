// The file of a cached compilation.
//
// Preparing a model for the host costs microseconds, less than reading a file: nothing here would pay for being read
// back. The file therefore holds what identifies a preparation, the model's structure, the order of its operations and
// the feature level, with a checksum. It behaves as on a phone (found again, refused when damaged or another model's,
// written anew), so that a client's caching can be tested.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {

using CacheToken = std::array<uint8_t, 32>;

class CacheFile {
 public:
  CacheFile(const std::string& directory, const CacheToken& token);

  const std::string& path() const { return path_; }
  // True if the file was there and is this model's; else it is written, by way of a temporary file. Where it can't be,
  // a sentence says so, and there is no cache.
  bool check(const Model& model) const;

 private:
  void write(const std::string& bytes) const;

  std::string path_;
};

}  // namespace nnapi_convert::host
