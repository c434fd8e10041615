// SPDX-License-Identifier: BSD-3-Clause
// An error that the user can mend by adding words to the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"

namespace nnapi_convert {

class OptionsNeeded : public ConvertError {
 public:
  OptionsNeeded(ExitCode exit_code, const std::string& message, std::vector<std::string> words)
      : ConvertError(exit_code, message), words_(std::move(words)) {}
  // Returns an example of these words, such as "--input", "1,3,224,224". With them at its end the command goes on.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
};

}  // namespace nnapi_convert
