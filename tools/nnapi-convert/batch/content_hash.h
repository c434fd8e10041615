// SPDX-License-Identifier: BSD-3-Clause
// Computes SHA-256 in hexadecimal digits.
#pragma once

#include <filesystem>
#include <string>

namespace nnapi_convert {

// Returns the hash of a file's bytes. Throws ConvertError (kBadFile) if the file can't be read.
std::string hash_of_file(const std::filesystem::path& path);
std::string hash_of_text(const std::string& text);

}  // namespace nnapi_convert
