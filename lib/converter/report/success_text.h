// SPDX-License-Identifier: BSD-3-Clause
// The line that a successful conversion ends with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/converter/emit/conversion.h"
#include "lib/converter/emit/emit_methods.h"
#include "lib/litert/file.h"

namespace nnapi_convert {

struct WrittenFile {
  std::string model, path;  // the original, and the result
  uint64_t bytes = 0;
  bool is_verified = false;
  std::string data = {};  // files that calibrated it; may be empty
};

// Returns the file, its feature level, its operations, NNAPI's share, its size, and what to do next.
std::string success_text(const Conversion& conversion, const WrittenFile& file);
// Returns such a text for a file of several methods.
std::string success_text(const std::vector<MethodConversion>& methods, const WrittenFile& file);

// Returns such a text for a LiteRT file.
std::string litert_success_text(const litert::File& file, const std::string& model, const std::string& path,
                                uint64_t bytes);

}  // namespace nnapi_convert
