// SPDX-License-Identifier: BSD-3-Clause
// Says whether what LibTorch would read from an archive's records may be read: LibTorch checks few of the numbers and
// names in them, and a wrong one ends in memory that isn't the model's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "lib/base/error.h"

namespace nnapi_convert {

using RecordSizes = std::map<std::string, uint64_t>;  // bytes, by names without the archive's root folder

// A record with a tensor of a dtype that PyTorch got after 1.13.1.
class NewerDtype : public ConvertError {
 public:
  explicit NewerDtype(const std::string& dtype)
      : ConvertError(ExitCode::kBadFile,
                     "it holds a tensor of dtype " + dtype +
                         ", which PyTorch 1.13.1 on the device lacks; save the model with this parameter or buffer "
                         "as float32, or as int32 or int64 for whole numbers") {}
};

// Checks the bytes of a pickle of values, or of code. Other records are weights, which may hold any bytes, or are
// checked by SourceLines when it reads them. Throws DamagedFile where lengths or the grammar of pickles are wrong,
// NewerDtype, and ConvertError (kBadFile) with what is not read.
void check_content(const std::string& record, std::string_view bytes, const RecordSizes& sizes);

}  // namespace nnapi_convert
