// SPDX-License-Identifier: BSD-3-Clause
// Tells files that lost or changed bytes from sound files that the program doesn't read.
#pragma once

#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {

// A file's bytes are not those that were written: a checksum, a length or the grammar of the file's format proves it. A
// ConvertError (kBadFile) that is none of these says of a file, which may be sound, what the program doesn't read. The
// message tells what is wrong, and who catches the error tells where.
class DamagedFile : public ConvertError {
 public:
  explicit DamagedFile(const std::string& what) : ConvertError(ExitCode::kBadFile, what) {}
};

// "is damaged: WHAT" or "is not read: WHAT", to stand behind the name of a file or of a part of one.
inline std::string damage_or_limit(const ConvertError& error) {
  const bool is_damaged = dynamic_cast<const DamagedFile*>(&error) != nullptr;
  return std::string(is_damaged ? "is damaged: " : "is not read: ") + error.what();
}

}  // namespace nnapi_convert
