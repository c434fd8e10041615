// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/litert_check.h"

#include "lib/base/error.h"
#include "lib/converter/emit/litert_file.h"
#include "lib/litert/file_reader.h"
#include "tests/litert/format_rules.h"
#include "tests/litert/quantisation_rules.h"

namespace nnapi_convert {
namespace {

// Empty for a model that LiteRT can't run.
std::string file_bytes(const Conversion& conversion, bool keeps_uint8) {
  Diagnostics diagnostics;
  std::string bytes;
  try {
    const litert::File file = make_litert_file(conversion, keeps_uint8, diagnostics);
    litert::write_file(file,
                       [&](const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); });
  } catch (const ConvertError& error) {
    if (error.exit_code() != ExitCode::kNotConvertible) throw;
  }
  return bytes;
}

// The file's text without its size, in which metadata count that say nothing of the model.
std::string dump_of(const std::string& bytes) {
  std::string text = litert::to_text(litert::read_file(bytes, "the file"));
  const size_t size = text.find("weights: ");
  return text.erase(size, text.find('\n', size) + 1 - size);
}

}  // namespace

LitertCheck check_litert_file(const Conversion& conversion) {
  LitertCheck result;
  for (const bool keeps_uint8 : {false, true}) {
    const std::string bytes = file_bytes(conversion, keeps_uint8);
    if (bytes.empty()) return result;
    if (!keeps_uint8) result.dump = dump_of(bytes);
    for (const auto check : {&litert::testing::format_problems, &litert::testing::quantisation_problems}) {
      for (const std::string& problem : check(bytes)) {
        result.problems.push_back((keeps_uint8 ? "LiteRT, uint8: " : "LiteRT: ") + problem);
      }
    }
  }
  return result;
}

}  // namespace nnapi_convert
