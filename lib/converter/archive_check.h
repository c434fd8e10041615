// Checks a zip archive's checksums, which LibTorch doesn't: damaged code could crash its parser.
#pragma once

#include <string>

namespace nnapi_convert {

// Compares the checksum of every entry but the weights (data/...), which are large and only numbers. Throws
// ConvertError (kBadFile) for a damaged entry.
void check_archive(const std::string& path);

}  // namespace nnapi_convert
