// SPDX-License-Identifier: BSD-3-Clause
// Tells files that lost or changed bytes from sound files that the program doesn't read.
#pragma once

#include <string>

#include "lib/base/error.h"

namespace nnapi_convert {

// The error of a file whose bytes are not those that were written: a checksum, a length or the grammar of the file's
// format proves it. Any other ConvertError (kBadFile) means that the program doesn't read the file, which may be sound.
// The message says what is wrong; the code that catches the error says where.
class DamagedFile : public ConvertError {
 public:
  explicit DamagedFile(const std::string& what) : ConvertError(ExitCode::kBadFile, what) {}
};

// Returns "is damaged: WHAT" or "is not read: WHAT", for messages that begin with the name of a file or of a part of
// one.
inline std::string damage_or_limit(const ConvertError& error) {
  const bool is_damaged = dynamic_cast<const DamagedFile*>(&error) != nullptr;
  return std::string(is_damaged ? "is damaged: " : "is not read: ") + error.what();
}

}  // namespace nnapi_convert
