// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/input_spec.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/split_text.h"
#include "lib/base/value_path.h"

namespace nnapi_convert {
namespace {

constexpr const char* kDots = "..";        // between the ends of a range
constexpr const char* kScalar = "scalar";  // in place of sizes: a tensor of rank 0

class SpecParser {
 public:
  explicit SpecParser(const std::string& text) : text_(text) {}

  InputSpec parse() {
    InputSpec spec;
    std::string rest = text_;
    const size_t equals = end_of_path(rest);
    if (equals != std::string::npos) {
      spec.name = rest.substr(0, equals);
      if (spec.name.empty()) fail("an empty name before \"=\"");
      rest = rest.substr(equals + 1);
    }
    spec.text = rest;
    if (spec.name.empty() || !may_be_value(rest)) {
      read_tensor(spec, rest);
      return spec;
    }
    try {
      read_tensor(spec, rest);
    } catch (const ConvertError& error) {
      spec.problem = error.what();
    }
    return spec;
  }

 private:
  // Returns whether the text behind a name may be the value of an argument that is no tensor. Only the model tells.
  static bool may_be_value(const std::string& text) {
    return (!text.empty() && (text.front() == '"' || text.front() == '[')) ||
           text.find_first_of(",:?") == std::string::npos;
  }

  void read_tensor(InputSpec& spec, const std::string& rest) const {
    const std::vector<std::string> parts = split_text(rest, ':');
    if (parts[0] != kScalar) {
      for (const std::string& size : split_text(parts[0], ',')) read_size(spec, size);
    }
    if (parts.size() > 1) spec.dtype = parse_dtype(parts[1]);
    const bool is_quantized = spec.dtype && c10::isQIntType(*spec.dtype);
    if (is_quantized && parts.size() != 4) fail(parts[1] + " needs a scale and a zero point");
    if (!is_quantized && parts.size() > 2) fail("a scale or zero point for a dtype that is not quantised");
    if (is_quantized) spec.quantization = Quantization{parse_scale(parts[2]), parse_zero_point(parts[3])};
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--input {}: {}; write [NAME=]DIMS[:DTYPE[:SCALE:ZERO_POINT]], for example "
                                   "1,3,224,224 or x=1,3,?,? or x=scalar or 1,3,224,224:quint8:0.0187:114",
                                   text_, problem));
  }

  template <typename T>
  bool read_whole(const std::string& text, T& value) const {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }

  // Returns true for a name, a letter and maybe a number, or a multiple of a name: open sizes with one name are equal.
  static bool is_symbol(const std::string& text) {
    constexpr const char* kDigits = "0123456789";
    const size_t times = text.find('*');
    const size_t name = times == std::string::npos ? 0 : times + 1;
    const bool has_factor = name == 0 || (times > 0 && text.find_first_not_of(kDigits) == times);
    return has_factor && name < text.size() && std::isalpha(static_cast<unsigned char>(text[name])) != 0 &&
           text.find_first_not_of(kDigits, name + 1) == std::string::npos;
  }

  void read_size(InputSpec& spec, const std::string& text) const {
    const size_t axis = spec.sizes.size();
    const size_t dots = text.find(kDots);
    if (dots != std::string::npos) {
      spec.open[axis].range = parse_range(text, dots);
    } else if (is_symbol(text)) {
      spec.open[axis].expression = text;
    } else if (text != "?") {
      spec.sizes.emplace_back(parse_number(text, text));
      return;
    }
    spec.sizes.push_back(std::nullopt);
  }

  int64_t parse_number(const std::string& text, const std::string& size) const {
    int64_t number = 0;
    if (!read_whole(text, number) || number < 0 || number > INT32_MAX) {
      fail(fmt::format(
          "size \"{}\" is no whole number of 0 or more, \"?\", range (64..512), name (n) or multiple (32*n)", size));
    }
    return number;
  }

  // Reads "64..512", or "64.." without a limit above.
  SizeRange parse_range(const std::string& text, size_t dots) const {
    const std::string most = text.substr(dots + std::strlen(kDots));
    SizeRange range{parse_number(text.substr(0, dots), text), {}};
    if (!most.empty()) range.most = parse_number(most, text);
    if (range.least < 1 || (range.most && *range.most <= range.least)) {
      fail(fmt::format("range \"{}\" does not go from 1 or more up to a larger size", text));
    }
    return range;
  }

  at::ScalarType parse_dtype(const std::string& text) const {
    std::vector<std::string> names;
    for (const at::ScalarType dtype :
         {at::kFloat, at::kQUInt8, at::kInt, at::kLong, at::kBool, at::kByte, at::kChar, at::kShort, at::kHalf,
          at::kBFloat16, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
      names.push_back(dtype_name(dtype));
      if (text == names.back()) return dtype;
    }
    fail(fmt::format("dtype \"{}\" is none of {}", text, fmt::join(names, ", ")));
  }

  double parse_scale(const std::string& text) const {
    char* end = nullptr;
    const double scale = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(scale) || scale <= 0) {
      fail(fmt::format("scale \"{}\" is no number above 0", text));
    }
    return scale;
  }

  int64_t parse_zero_point(const std::string& text) const {
    int64_t zero_point = 0;
    if (!read_whole(text, zero_point) || zero_point < 0 || zero_point > 255) {
      fail(fmt::format("zero point \"{}\" is no whole number from 0 to 255", text));
    }
    return zero_point;
  }

  const std::string& text_;
};

}  // namespace

InputSpec parse_input_spec(const std::string& text) {
  return SpecParser(text).parse();
}

}  // namespace nnapi_convert
