// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/op_case.h"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "tools/nnapi-convert/input_spec.h"

namespace nnapi_convert {
namespace {

constexpr const char* kIndent = "  ";

std::vector<int64_t> parse_sizes(const std::string& text) {
  std::vector<int64_t> sizes;
  std::stringstream stream(text);
  for (std::string size; std::getline(stream, size, ',');) sizes.push_back(std::stoll(size));
  return sizes;
}

TensorType parse_type(const std::string& text) {
  const InputSpec spec = parse_input_spec(text);
  TensorType type{spec.dtype.value_or(at::kFloat), {}, spec.quantization.value_or(Quantization{})};
  for (size_t axis = 0; axis < spec.sizes.size(); ++axis) {
    type.dims.push_back(spec.sizes[axis] ? Dim(*spec.sizes[axis]) : Dim::of_input(0, static_cast<int>(axis)));
  }
  return type;
}

CaseTensor parse_tensor(std::istringstream& words) {
  CaseTensor tensor;
  std::string spec, extra;
  words >> tensor.name >> spec;
  tensor.type = parse_type(spec);
  while (words >> extra) {
    if (extra == "float64") {
      tensor.type.dtype = at::kDouble;
      continue;
    }
    const size_t dots = extra.find("..");
    if (dots == std::string::npos) throw std::runtime_error("unknown word " + extra);
    tensor.range = ValueRange{std::stod(extra.substr(0, dots)), std::stod(extra.substr(dots + 2))};
  }
  return tensor;
}

PackedWeights parse_packed(std::istringstream& words) {
  PackedWeights packed;
  std::string sizes, word;
  words >> packed.name >> packed.kind >> sizes;
  packed.sizes = parse_sizes(sizes);
  const std::map<std::string, std::function<void(const std::string&)>> readers = {
      {"scale", [&](const std::string& value) { packed.scale = std::stod(value); }},
      {"bias", [&](const std::string& value) { packed.bias = std::stod(value); }},
      {"stride", [&](const std::string& value) { packed.stride = parse_sizes(value); }},
      {"padding", [&](const std::string& value) { packed.padding = parse_sizes(value); }},
      {"dilation", [&](const std::string& value) { packed.dilation = parse_sizes(value); }},
      {"output_padding", [&](const std::string& value) { packed.output_padding = parse_sizes(value); }},
      {"groups", [&](const std::string& value) { packed.groups = std::stoll(value); }},
      {"per_channel",
       [&](const std::string& value) {
         packed.per_channel = true;
         if (!value.empty()) packed.spread = std::stod(value);
       }},
  };
  while (words >> word) {
    const size_t equals = word.find('=');
    readers.at(word.substr(0, equals))(equals == std::string::npos ? "" : word.substr(equals + 1));
  }
  return packed;
}

QuantMode parse_quant(const std::string& text) {
  for (const QuantMode mode :
       {QuantMode::kAuto, QuantMode::kNone, QuantMode::kCore, QuantMode::kFull, QuantMode::kNnapi}) {
    if (text == name_of(mode)) return mode;
  }
  throw std::runtime_error("unknown quant " + text);
}

Runtime parse_runtime(const std::string& text) {
  if (text == "pytorch") return Runtime::kPytorch;
  if (text == "shim") return Runtime::kShim;
  throw std::runtime_error("unknown runtime " + text);
}

ControlFlow parse_control_flow(const std::string& text) {
  if (text == "nnapi") return ControlFlow::kNnapi;
  throw std::runtime_error("unknown control flow " + text);
}

std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

void read_flexible(std::istringstream& words, OpCase& result) {
  for (std::string sizes; words >> sizes;) result.flexible.push_back(parse_sizes(sizes));
}

bool parse_libtorch(const std::string& release) {
  if (release != "1.13") throw std::runtime_error("libtorch " + release + " found, libtorch 1.13 needed");
  return true;
}

// One line of keys.
void read_key(const std::string& line, OpCase& result) {
  std::istringstream words(line);
  std::string key;
  words >> key;
  const std::map<std::string, std::function<void()>> readers = {
      {"input", [&] { result.inputs.push_back(parse_tensor(words)); }},
      {"weight", [&] { result.weights.push_back(parse_tensor(words)); }},
      {"packed", [&] { result.packed.push_back(parse_packed(words)); }},
      {"level", [&] { words >> result.level; }},
      {"tolerance", [&] { words >> result.tolerance; }},
      {"quanta", [&] { words >> result.quanta; }},
      {"engine", [&] { result.engine = rest_of(words); }},
      {"quant", [&] { result.quant = parse_quant(rest_of(words)); }},
      {"runtime", [&] { result.runtime = parse_runtime(rest_of(words)); }},
      {"control_flow", [&] { result.control_flow = parse_control_flow(rest_of(words)); }},
      {"flexible", [&] { read_flexible(words, result); }},
      {"warns", [&] { result.warnings.push_back(rest_of(words)); }},
      {"refused", [&] { result.refusals.push_back(rest_of(words)); }},
      {"libtorch", [&] { result.is_of_1_13 = parse_libtorch(rest_of(words)); }},
      {"layout", [&] { result.layouts = {rest_of(words)}; }},
  };
  const auto reader = readers.find(key);
  if (reader == readers.end()) throw std::runtime_error("unknown key " + key);
  reader->second();
}

// Reads the lines of a file into cases.
class CaseReader {
 public:
  explicit CaseReader(const std::string& path) : path_(path) {}

  void take(const std::string& line) {
    if (line.compare(0, 2, kIndent) == 0) return take_indented(line);
    section_ = nullptr;
    in_golden_ = false;
    if (std::string* golden = golden_section(line)) {
      in_golden_ = true;
      section_ = golden;
      return;
    }
    const bool is_case = line.compare(0, 5, "case ") == 0;
    if (line.empty() || line[0] == '#' || is_case) {
      preamble_.push_back(line);
      if (is_case) begin(line.substr(5));
      return;
    }
    current().lines.push_back(line);
    if (line == "source") {
      section_ = &current().source;
    } else {
      read_key(line, current());
    }
  }

  std::vector<OpCase> finish() {
    if (!preamble_.empty()) throw std::runtime_error("comment lines after the last case");
    return std::move(cases_);
  }

 private:
  void begin(const std::string& name) {
    OpCase& op_case = cases_.emplace_back();
    op_case.file = path_;
    op_case.name = name;
    op_case.lines = std::move(preamble_);
    preamble_.clear();
  }

  OpCase& current() {
    if (cases_.empty()) throw std::runtime_error("a key before the first case");
    if (!preamble_.empty()) throw std::runtime_error("a comment or empty line inside a case");
    return cases_.back();
  }

  // The golden section that a line begins; null: none.
  std::string* golden_section(const std::string& line) {
    if (line == "golden") return &current().golden;
    if (line == "golden shim") return &current().shim_golden;
    return line == "golden litert" ? &current().litert_golden.emplace() : nullptr;
  }

  void take_indented(const std::string& line) {
    if (section_ == nullptr) throw std::runtime_error("an indented line outside of source and golden");
    *section_ += line.substr(2) + "\n";
    if (!in_golden_) current().lines.push_back(line);
  }

  std::string path_;
  std::vector<OpCase> cases_;
  std::vector<std::string> preamble_;  // comments and empty lines before the next case
  std::string* section_ = nullptr;
  bool in_golden_ = false;
};

}  // namespace

std::vector<OpCase> read_cases(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("can't read " + path);
  CaseReader reader(path);
  int number = 0;
  try {
    for (std::string line; std::getline(stream, line);) {
      ++number;
      reader.take(line);
    }
    return reader.finish();
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}:{}: {}", path, number, error.what()));
  }
}

namespace {

void write_golden(std::ostream& stream, const char* key, const std::string& text) {
  if (text.empty()) return;
  stream << key << "\n";
  std::stringstream golden(text);
  for (std::string line; std::getline(golden, line);) stream << kIndent << line << "\n";
}

}  // namespace

void write_cases(const std::string& path, const std::vector<OpCase>& cases) {
  std::ofstream stream(path);
  for (const OpCase& one : cases) {
    for (const std::string& line : one.lines) stream << line << "\n";
    write_golden(stream, "golden", one.golden);
    write_golden(stream, "golden shim", one.shim_golden);
    if (one.litert_golden) write_golden(stream, "golden litert", *one.litert_golden);
  }
  if (!stream.flush()) throw std::runtime_error("can't write " + path);
}

}  // namespace nnapi_convert
