// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/package_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/error.h"
#include "lib/base/split_text.h"
#include "lib/format/nnapi_codes.h"
#include "tools/nnapi-convert/input_spec.h"

namespace nnapi_convert {
namespace {

class PackageParser {
 public:
  explicit PackageParser(const std::string& text) { request_.name = text; }

  PackageRequest parse() {
    for (const std::string& item : split_text(request_.name, ',')) take(item);
    take_shape();
    if (request_.is_per_channel && !request_.quant) request_.quant = QuantMode::kNnapi;
    if (request_.is_per_channel && !request_.is_quantised()) {
      fail("per-channel is of quantised weights; give quant=nnapi, core or full");
    }
    return request_;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--package: '{}': {}; for example --package \"level=3,quant=nnapi; level=1\"",
                                   request_.name, problem));
  }

  void take(const std::string& item) {
    const size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    // Commas separate the sizes of a shape, too.
    const bool is_size = !item.empty() && item.find_first_not_of("0123456789?") == std::string::npos;
    if (equals == std::string::npos && is_size && !shape_.empty()) {
      shape_ += "," + item;
      return;
    }
    take_shape();
    if (key != "shape") take_once(key);
    if (key == "level") return take_level(value);
    if (key == "quant") return take_quant(value);
    if (key == "shape" && !value.empty()) {
      shape_ = value;
      return;
    }
    if (item == "per-channel") {
      request_.is_per_channel = true;
    } else if (item == "relax-fp16") {
      request_.relax_fp16 = true;
    } else {
      fail(fmt::format("'{}' found, level=N, quant=MODE, shape=SIZES, per-channel or relax-fp16 needed", item));
    }
  }

  // Throws for a word given twice: it is a mistake, such as a comma in place of a semicolon.
  void take_once(const std::string& key) {
    if (!known_.insert(key).second) fail(fmt::format("{} is there twice; a semicolon parts models", key));
  }

  void take_level(const std::string& value) {
    const bool is_level = value.size() == 1 && value[0] >= '1' && value[0] <= '0' + kHighestFeatureLevel;
    if (!is_level) fail(fmt::format("level '{}' found, 1 to {} needed", value, kHighestFeatureLevel));
    request_.feature_level = value[0] - '0';
  }

  void take_quant(const std::string& value) {
    const std::map<std::string, QuantMode> modes = {{"none", QuantMode::kNone},
                                                    {"core", QuantMode::kCore},
                                                    {"full", QuantMode::kFull},
                                                    {"nnapi", QuantMode::kNnapi}};
    if (const auto found = modes.find(value); found != modes.end()) request_.quant = found->second;
    if (!request_.quant) fail(fmt::format("quant '{}' found, none, core, full or nnapi needed", value));
  }

  void take_shape() {
    if (shape_.empty()) return;
    const InputSpec shape = parse_input_spec(shape_);
    if (!shape.problem.empty() || shape.dtype) {
      fail(fmt::format("shape '{}' found, sizes needed, as 1,3,320,320 or x=1,3,?,?", shape_));
    }
    request_.inputs.push_back(shape);
    shape_.clear();
  }

  PackageRequest request_;
  std::string shape_;            // the sizes that are being read
  std::set<std::string> known_;  // words that were read
};

}  // namespace

std::vector<PackageRequest> parse_package(const std::string& text) {
  std::vector<PackageRequest> requests;
  for (std::string each : split_text(text, ';')) {
    each.erase(std::remove(each.begin(), each.end(), ' '), each.end());
    requests.push_back(PackageParser(each).parse());
    for (size_t i = 0; i + 1 < requests.size(); ++i) {
      if (requests[i].name != each) continue;
      throw ConvertError(ExitCode::kUsage, fmt::format("--package: '{}' is there twice; leave one out", each));
    }
  }
  return requests;
}

}  // namespace nnapi_convert
