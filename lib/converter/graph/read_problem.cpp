// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/read_problem.h"

#include <c10/util/Exception.h>

#include <regex>

#include "lib/base/error.h"
#include "lib/base/out_of_memory.h"
#include "lib/converter/graph/torch_error.h"

namespace nnapi_convert {
namespace {

// A pattern for a message of LibTorch's readers, and the wording in its place; $1 and $2 are the pattern's groups.
struct Sentence {
  const char* theirs;
  const char* ours;
};

constexpr Sentence kSentences[] = {
    {R"(failed locating file (\S+): file not found)", "not a TorchScript archive: entry $1 is missing"},
    {R"R(Expected hasRecord\("(\w+)"\))R", "not a TorchScript archive: entry $1 is missing"},
    {R"(Couldn't parse the version)", "not a TorchScript archive: entry version is no number"},
    {R"(file with version (\d+), but the maximum supported version for reading is (\d+))",
     "its format is of version $1, and PyTorch 1.13.1 reads versions up to $2"},
    {R"(not in a subdirectory)", "not a TorchScript archive: its entries lie in no folder, as PyTorch puts them"},
    {R"(failed reading zip archive|failed finding central directory)",
     "damaged: its list of entries can't be read, as a download leaves it that broke off"},
    {R"R(File "(code/[^"]+)", line (\d+))R", "its code can't be read at $1:$2: PyTorch 1.13.1 doesn't take it"},
    {R"(frontend/(parser|lexer)|but found .* here:)", "its code can't be read: PyTorch 1.13.1 doesn't take it"},
};

}  // namespace

std::string read_problem(const std::exception& error) {
  if (dynamic_cast<const ConvertError*>(&error) != nullptr) return error.what();
  rethrow_if_memory_is_full(error);
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  for (const Sentence& sentence : kSentences) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(sentence.theirs))) return match.format(sentence.ours);
  }
  const std::string reason = torch_reason(error);
  return reason.empty() ? "not read, and PyTorch doesn't say why" : "not read; PyTorch says: " + reason;
}

}  // namespace nnapi_convert
