// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/read_problem.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <regex>

#include "lib/base/error.h"
#include "lib/converter/graph/torch_error.h"

namespace nnapi_convert {
namespace {

// What LibTorch's readers say, and the same for people; $1 and $2 are parts of it.
struct Sentence {
  const char* theirs;
  const char* ours;
};

constexpr Sentence kSentences[] = {
    {R"(failed locating file (\S+): file not found)", "entry $1 is missing"},
    {R"R(Expected hasRecord\("(\w+)"\))R", "entry $1 is missing"},
    {R"(Couldn't parse the version)", "entry version is no number"},
    {R"(file with version (\d+), but the maximum supported version for reading is (\d+))",
     "its format is of version $1, and PyTorch 1.13.1 reads versions up to $2"},
    {R"(not in a subdirectory)", "its entries lie in no folder, as PyTorch puts them"},
    {R"(failed reading zip archive|failed finding central directory)",
     "its list of entries is damaged, as a download leaves it that broke off"},
    {R"R(File "(code/[^"]+)", line (\d+))R", "its code can't be read at $1:$2"},
    {R"(frontend/(parser|lexer)|but found .* here:)", "its code can't be read"},
};

}  // namespace

std::string read_problem(const std::exception& error) {
  if (dynamic_cast<const ConvertError*>(&error) != nullptr) return fmt::format(": {}", error.what());
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  for (const Sentence& sentence : kSentences) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(sentence.theirs))) return ": " + match.format(sentence.ours);
  }
  const std::string reason = torch_reason(error);
  return reason.empty() ? "" : "; PyTorch says: " + reason;
}

}  // namespace nnapi_convert
