// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/success_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/shell_word.h"
#include "lib/converter/report/mac_share.h"
#include "lib/nnapi/api_level.h"

namespace nnapi_convert {
namespace {

size_t nnapi_operations(const Conversion& conversion) {
  size_t count = 0;
  for (const SegmentSummary& segment : conversion.segments) count += segment.model.operations.size();
  return count;
}

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Returns the operations of a conversion, and NNAPI's share of the model.
std::string nnapi_part(const Conversion& conversion) {
  const std::string operations = counted(nnapi_operations(conversion), "operation");
  if (conversion.is_whole) return operations + ", 100 % on NNAPI";
  return fmt::format("{} in {}, {} on NNAPI", operations, counted(conversion.segments.size(), "segment"),
                     to_text(mac_share(conversion)));
}

std::string package_part(const Conversion& package) {
  size_t operations = 0;
  for (const VariantSummary& variant : package.variants) operations += variant.operations;
  return fmt::format("{} in {}, 100 % on NNAPI", counted(operations, "operation"),
                     counted(package.variants.size(), "model"));
}

int level_of(const Conversion& conversion) {
  int level = conversion.feature_level();
  for (const VariantSummary& variant : conversion.variants) level = std::min(level, variant.feature_level);
  return level;
}

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kMegabyte = 1'000'000;
  const auto size = static_cast<double>(bytes);
  return bytes < kMegabyte ? fmt::format("{:.1f} kB", size / 1e3) : fmt::format("{:.1f} MB", size / 1e6);
}

std::string next_step(const WrittenFile& file, int level, Runtime runtime) {
  if (!file.is_verified) {
    return fmt::format("nnapi-convert verify {} {}{}", shell_word(file.model), shell_word(file.path),
                       file.data.empty() ? "" : " --inputs " + shell_word(file.data));
  }
  if (runtime == Runtime::kShim) return "the shim loads it in the app (docs/shim.md)";
  const auto api = api_of_level(level);
  if (!api) return fmt::format("Module.load() in the app, on devices with feature level {} (docs/android.md)", level);
  return fmt::format("Module.load() in the app, minSdk {} (docs/android.md)", std::max(kLoadersApi, *api));
}

std::string line(const WrittenFile& file, int level, Runtime runtime, const std::string& part) {
  return fmt::format("{}: feature level {}, {}, {}; next: {}\n", file.path, level, part, size_text(file.bytes),
                     next_step(file, level, runtime));
}

}  // namespace

std::string success_text(const Conversion& conversion, const WrittenFile& file) {
  const bool is_package = !conversion.variants.empty();
  return line(file, level_of(conversion), conversion.runtime,
              is_package ? package_part(conversion) : nnapi_part(conversion));
}

std::string success_text(const std::vector<MethodConversion>& methods, const WrittenFile& file) {
  int level = 1;
  std::vector<std::string> parts;
  for (const MethodConversion& method : methods) {
    level = std::max(level, method.conversion.feature_level());
    parts.push_back(fmt::format("{}: {}", method.name, nnapi_part(method.conversion)));
  }
  return line(file, level, methods.at(0).conversion.runtime, fmt::format("{}", fmt::join(parts, "; ")));
}

std::string litert_success_text(const litert::File& file, const std::string& model, const std::string& path,
                                uint64_t bytes) {
  size_t operators = 0;
  for (const litert::Subgraph& subgraph : file.subgraphs) operators += subgraph.operators.size();
  return fmt::format("{}: LiteRT, {}, {}; next: nnapi-convert verify {} {}\n", path, counted(operators, "operator"),
                     size_text(bytes), shell_word(model), shell_word(path));
}

}  // namespace nnapi_convert
