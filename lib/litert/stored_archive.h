// SPDX-License-Identifier: BSD-3-Clause
// Makes a zip archive of small files, uncompressed, in the plain form without ZIP64.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nnapi_convert::litert {

// `files` are names and bytes. The archive will begin at byte `begin` of a file.
std::string stored_archive(const std::vector<std::pair<std::string, std::string>>& files, uint32_t begin);

}  // namespace nnapi_convert::litert
