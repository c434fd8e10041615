// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the file of a cached compilation.
//
// Preparing a model for the host takes microseconds, less than reading a file, so the file keeps no prepared model. It
// identifies the model: its structure, the order of its operations and the feature level, with a checksum. The file
// behaves as on a phone, so that clients can test their caching: the runtime finds it again, refuses a file that is
// damaged or belongs to another model, and writes such a file anew.
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
  // Returns true if the file exists and belongs to this model. Otherwise writes it, by way of a temporary file; if that
  // fails, logs a sentence and goes on without a cache.
  bool check(const Model& model) const;

 private:
  void write(const std::string& bytes) const;

  std::string path_;
};

}  // namespace nnapi_convert::host
