#include "lib/converter/graph/torch_error.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace nnapi_convert {
namespace {

constexpr const char* kTrace = "Traceback of TorchScript";
constexpr const char* kPlain = "RuntimeError: ";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// True for a line that begins with the name of an error: "RuntimeError: ...", "builtins.ValueError: ...".
bool names_error(const std::string& line) {
  const size_t end = line.find(": ");
  if (end == std::string::npos) return false;
  const std::string name = line.substr(0, end);
  return name.find(' ') == std::string::npos && (ends_with(name, "Error") || ends_with(name, "Exception"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Cuts long reasons at a space: some messages of PyTorch list all its backends.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 240;
  return text.size() <= kMost ? text : text.substr(0, text.rfind(' ', kMost)) + " ...";
}

}  // namespace

std::string torch_reason(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  const std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) return "";
  if (text.find(kTrace) == std::string::npos) return shortened(lines[0]);
  const auto named = std::find_if(lines.rbegin(), lines.rend(), names_error);
  const std::string& reason = named == lines.rend() ? lines.back() : *named;
  return shortened(reason.rfind(kPlain, 0) == 0 ? reason.substr(std::char_traits<char>::length(kPlain)) : reason);
}

}  // namespace nnapi_convert
