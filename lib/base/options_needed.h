// SPDX-License-Identifier: BSD-3-Clause
// An error that some more words on the command line would mend.
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
  // Returns an example of these words, such as "--input", "1,3,224,224". The same command goes on with them behind it.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
};

}  // namespace nnapi_convert
