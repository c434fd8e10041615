// Says whether what LibTorch would read from an archive's records may be read: LibTorch checks few of the numbers and
// names in them, and a wrong one ends in memory that isn't the model's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nnapi_convert {

using RecordSizes = std::map<std::string, uint64_t>;  // bytes, by names without the archive's root folder

// Of a record's bytes: pickles of values and of source lines, and code. Other records are weights, which may be any.
// Throws ConvertError (kBadFile) with what is wrong.
void check_content(const std::string& record, std::string_view bytes, const RecordSizes& sizes);

}  // namespace nnapi_convert
