// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/file_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "lib/base/error.h"
#include "lib/litert/codes.h"
#include "lib/litert/names.h"
#include "lib/litert/option_fields.h"

namespace nnapi_convert::litert {
namespace {

constexpr size_t kOffset = 4;
constexpr size_t kIdentifierAt = 4;
// The most bytes read per byte of the file. Many vectors may share bytes; the limit keeps reading in proportion to the
// file's size.
constexpr uint64_t kMostReadPerByte = 4;
constexpr uint64_t kMostShownNumbers = 16;  // of a constant

// A checked view of the file.
class Bytes {
 public:
  Bytes(std::string_view bytes, const std::string& path)
      : bytes_(bytes), path_(path), budget_(kMostReadPerByte * bytes.size() + (1U << 16U)) {}

  [[noreturn]] void fail(const std::string& problem) const {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: not a LiteRT file, or damaged: {}", path_, problem));
  }

  template <typename Number>
  Number at(uint64_t place) const {
    if (place > bytes_.size() || bytes_.size() - place < sizeof(Number)) fail("an offset leads out of the file");
    Number number;
    std::memcpy(&number, bytes_.data() + place, sizeof number);
    return number;
  }
  uint64_t target(uint64_t place) const { return place + at<uint32_t>(place); }
  const char* data(uint64_t place, uint64_t size) const {
    if (place > bytes_.size() || bytes_.size() - place < size) fail("a vector leads out of the file");
    return bytes_.data() + place;
  }
  // Counts bytes that are read; fails beyond the limit.
  void spend(uint64_t amount) const {
    if (amount > budget_) fail("its tables repeat each other");
    budget_ -= amount;
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& path_;
  mutable uint64_t budget_;
};

class TableView {
 public:
  TableView(const Bytes& bytes, uint64_t place) : bytes_(bytes), place_(place) {
    const auto back = bytes.at<int32_t>(place);
    const int64_t vtable = static_cast<int64_t>(place) - back;
    if (vtable < 0) bytes.fail("a vtable lies before the file");
    vtable_ = static_cast<uint64_t>(vtable);
    vtable_bytes_ = bytes.at<uint16_t>(vtable_);
    bytes.spend(kOffset);
  }

  template <typename Number>
  Number number(int id, Number value_if_absent = 0) const {
    const uint64_t place = field(id);
    return place == 0 ? value_if_absent : bytes_.at<Number>(place);
  }

  template <typename Number>
  std::vector<Number> numbers(int id) const {
    const Vector vector = vector_at(id);
    std::vector<Number> result;
    if (vector.count == 0) return result;
    const char* data = bytes_.data(vector.begin, uint64_t{vector.count} * sizeof(Number));
    bytes_.spend(uint64_t{vector.count} * sizeof(Number));
    result.resize(vector.count);
    std::memcpy(result.data(), data, result.size() * sizeof(Number));
    return result;
  }

  std::string text(int id) const {
    const Vector vector = vector_at(id);
    if (vector.count == 0) return "";
    const char* data = bytes_.data(vector.begin, vector.count);
    bytes_.spend(vector.count);
    std::string text(data, vector.count);
    for (char& letter : text) {
      if (static_cast<unsigned char>(letter) < ' ') letter = '?';
    }
    return text;
  }

  std::vector<TableView> tables(int id) const {
    const Vector vector = vector_at(id);
    bytes_.data(vector.begin, uint64_t{vector.count} * kOffset);
    bytes_.spend(uint64_t{vector.count} * kOffset);
    std::vector<TableView> result;
    for (uint32_t i = 0; i < vector.count; ++i) result.emplace_back(bytes_, bytes_.target(vector.begin + i * kOffset));
    return result;
  }

  std::vector<TableView> table(int id) const {
    const uint64_t place = field(id);
    if (place == 0) return {};
    return {TableView(bytes_, bytes_.target(place))};
  }

  // Returns the position of a vector's elements in the file; 0 without a vector.
  uint64_t begin(int id) const { return vector_at(id).begin; }

  // Returns the position of a vector of bytes in the file and their number, without reading them.
  std::pair<uint64_t, uint64_t> bytes(int id) const {
    const Vector vector = vector_at(id);
    bytes_.data(vector.begin, vector.count);
    return {vector.begin, vector.count};
  }

 private:
  struct Vector {
    uint64_t begin = 0;
    uint32_t count = 0;
  };

  uint64_t field(int id) const {
    const uint64_t slot = 2 * (static_cast<uint64_t>(id) + 2);
    if (slot + 2 > vtable_bytes_) return 0;
    const auto offset = bytes_.at<uint16_t>(vtable_ + slot);
    return offset == 0 ? 0 : place_ + offset;
  }

  Vector vector_at(int id) const {
    const uint64_t place = field(id);
    if (place == 0) return {};
    const uint64_t begin = bytes_.target(place);
    return {begin + kOffset, bytes_.at<uint32_t>(begin)};
  }

  const Bytes& bytes_;
  uint64_t place_, vtable_ = 0;
  uint16_t vtable_bytes_ = 0;
};

struct ReadCode {
  std::string name;
  int32_t code, old_code, version;
};

// The place of a buffer's data in the file.
struct ReadBuffer {
  uint64_t begin = 0, bytes = 0;
};

ReadCode read_code(const TableView& table) {
  const int32_t old_code = table.number<int8_t>(0), code = std::max<int32_t>(old_code, table.number<int32_t>(3));
  const std::string custom = table.text(1);
  return {custom.empty() ? name_of(static_cast<Builtin>(code)) : "CUSTOM " + custom, code, old_code,
          table.number<int32_t>(2, 1)};
}

template <typename Number>
std::string values_text(const Bytes& bytes, const ReadBuffer& buffer) {
  if (buffer.bytes < sizeof(Number) || buffer.bytes / sizeof(Number) > kMostShownNumbers) return "";
  bytes.spend(buffer.bytes);
  std::vector<Number> numbers(buffer.bytes / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(buffer.begin, buffer.bytes), numbers.size() * sizeof(Number));
  if constexpr (sizeof(Number) == 1) {
    return fmt::format("[{}]", fmt::join(std::vector<int>(numbers.begin(), numbers.end()), ", "));
  } else {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  }
}

std::string values_text(const Bytes& bytes, const ReadBuffer& buffer, TensorType type) {
  switch (type) {
    case TensorType::INT32:
      return values_text<int32_t>(bytes, buffer);
    case TensorType::FLOAT32:
      return values_text<float>(bytes, buffer);
    case TensorType::INT8:
      return values_text<int8_t>(bytes, buffer);
    case TensorType::UINT8:
      return values_text<uint8_t>(bytes, buffer);
    default:
      return "";
  }
}

std::string option_text(const TableView& table, const OptionField& field) {
  switch (field.kind) {
    case OptionKind::kPadding:
      return padding_name(table.number<int8_t>(field.id));
    case OptionKind::kActivation:
      return activation_name(table.number<int8_t>(field.id));
    case OptionKind::kTensorType:
      return name_of(static_cast<TensorType>(table.number<int8_t>(field.id)));
    case OptionKind::kMode:
      return std::to_string(table.number<int8_t>(field.id));
    case OptionKind::kBool:
      return table.number<int8_t>(field.id) != 0 ? "true" : "false";
    case OptionKind::kFloat:
      return fmt::format("{}", table.number<float>(field.id));
    case OptionKind::kInts:
      return fmt::format("[{}]", fmt::join(table.numbers<int32_t>(field.id), ", "));
    case OptionKind::kInt:
      break;
  }
  return std::to_string(table.number<int32_t>(field.id, field.default_value));
}

// Returns whether a value is the usual one, which need not be shown.
bool says_nothing(const OptionField& field, const std::string& value) {
  switch (field.kind) {
    case OptionKind::kActivation:
      return value == "NONE";
    case OptionKind::kBool:
      return value == "false";
    case OptionKind::kMode:
      return value == "0";
    case OptionKind::kInt:
      return field.default_value != 0 && value == std::to_string(field.default_value);
    default:
      return false;
  }
}

void read_options(const TableView& table, ReadOperator& read) {
  read.options_table = table.number<uint8_t>(3);
  for (const TableView& options : table.table(4)) {
    for (const OptionField& field : option_fields(static_cast<Options>(read.options_table))) {
      const std::string value = option_text(options, field);
      if (!says_nothing(field, value)) read.options.emplace_back(field.name, value);
    }
  }
}

ReadTensor read_tensor(const Bytes& bytes, const TableView& table, const std::vector<ReadBuffer>& buffers) {
  ReadTensor tensor;
  tensor.shape = table.numbers<int32_t>(0);
  tensor.shape_begin = table.begin(0);
  const auto type = static_cast<TensorType>(table.number<int8_t>(1));
  tensor.type = name_of(type);
  const auto buffer = table.number<uint32_t>(2);
  if (buffer >= buffers.size()) bytes.fail(fmt::format("a tensor refers to buffer {}", buffer));
  tensor.constant_begin = buffers[buffer].begin;
  tensor.constant_bytes = buffers[buffer].bytes;
  tensor.value = values_text(bytes, buffers[buffer], type);
  tensor.name = table.text(3);
  for (const TableView& quantisation : table.table(4)) {
    tensor.scales = quantisation.numbers<float>(2);
    tensor.zero_points = quantisation.numbers<int64_t>(3);
    tensor.channel_axis = quantisation.number<int32_t>(6);
  }
  tensor.signature = table.numbers<int32_t>(7);
  tensor.signature_begin = table.begin(7);
  tensor.has_rank = table.number<int8_t>(8) != 0;
  return tensor;
}

void check_tensors(const Bytes& bytes, const std::vector<int32_t>& numbers, size_t count) {
  for (const int32_t number : numbers) {
    if (number >= 0 && static_cast<size_t>(number) >= count) bytes.fail(fmt::format("there is no tensor {}", number));
  }
}

ReadSubgraph read_subgraph(const Bytes& bytes, const TableView& table, const std::vector<ReadCode>& codes,
                           const std::vector<ReadBuffer>& buffers) {
  ReadSubgraph subgraph;
  for (const TableView& tensor : table.tables(0)) subgraph.tensors.push_back(read_tensor(bytes, tensor, buffers));
  subgraph.inputs = table.numbers<int32_t>(1);
  subgraph.outputs = table.numbers<int32_t>(2);
  subgraph.name = table.text(4);
  const size_t count = subgraph.tensors.size();
  check_tensors(bytes, subgraph.inputs, count);
  check_tensors(bytes, subgraph.outputs, count);
  for (const TableView& each : table.tables(3)) {
    const auto code = each.number<uint32_t>(0);
    if (code >= codes.size()) bytes.fail(fmt::format("there is no operator code {}", code));
    ReadOperator read;
    read.name = codes[code].name;
    read.code = codes[code].code;
    read.old_code = codes[code].old_code;
    read.version = codes[code].version;
    read.inputs = each.numbers<int32_t>(1);
    read.outputs = each.numbers<int32_t>(2);
    read_options(each, read);
    check_tensors(bytes, read.inputs, count);
    check_tensors(bytes, read.outputs, count);
    subgraph.operators.push_back(std::move(read));
  }
  return subgraph;
}

std::vector<ReadPort> read_ports(const std::vector<TableView>& tables) {
  std::vector<ReadPort> ports;
  for (const TableView& table : tables) ports.push_back({table.text(0), table.number<uint32_t>(1)});
  return ports;
}

std::string numbers_text(const std::vector<int32_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string type_text(const ReadTensor& tensor) {
  std::string text = tensor.type + numbers_text(tensor.signature.empty() ? tensor.shape : tensor.signature);
  if (tensor.scales.size() == 1) {
    text += fmt::format(" scale {} zero_point {}", tensor.scales[0],
                        tensor.zero_points.empty() ? 0 : tensor.zero_points[0]);
  } else if (tensor.scales.size() > 1) {
    text += fmt::format(" {} scales along {}", tensor.scales.size(), tensor.channel_axis);
  }
  return text;
}

std::string tensor_text(const ReadSubgraph& subgraph, int32_t number) {
  if (number < 0) return "-";
  const ReadTensor& tensor = subgraph.tensors[static_cast<size_t>(number)];
  if (tensor.constant_bytes == 0) return fmt::format("%{}", number);
  return fmt::format("%{} ({}{})", number, type_text(tensor), tensor.value.empty() ? "" : " " + tensor.value);
}

std::string ports_text(const ReadFile& file, const ReadSignature& signature, const std::vector<ReadPort>& ports) {
  std::string text;
  for (const ReadPort& port : ports) {
    text += "    " + port.name;
    if (signature.subgraph < file.subgraphs.size()) {
      const std::vector<ReadTensor>& tensors = file.subgraphs[signature.subgraph].tensors;
      if (port.tensor < tensors.size()) text += ": " + type_text(tensors[port.tensor]);
    }
    text += "\n";
  }
  return text;
}

std::string counts_of(const ReadFile& file) {
  std::map<std::pair<std::string, int32_t>, size_t> counts;
  size_t all = 0;
  for (const ReadSubgraph& subgraph : file.subgraphs) {
    for (const ReadOperator& each : subgraph.operators) {
      ++counts[{each.name, each.version}];
      ++all;
    }
  }
  std::string text = fmt::format("operators: {}\n", all);
  for (const auto& [code, count] : counts)
    text += fmt::format("  {:5} {} version {}\n", count, code.first, code.second);
  return text;
}

std::string all_text(const ReadFile& file) {
  std::string text;
  for (size_t i = 0; i < file.subgraphs.size(); ++i) {
    const ReadSubgraph& subgraph = file.subgraphs[i];
    text += fmt::format("subgraph {} {}\n", i, subgraph.name);
    for (const ReadOperator& each : subgraph.operators) {
      std::vector<std::string> results, inputs;
      for (const int32_t number : each.outputs) {
        if (number < 0) continue;
        const ReadTensor& tensor = subgraph.tensors[static_cast<size_t>(number)];
        results.push_back(fmt::format("%{}: {} {}", number, type_text(tensor), tensor.name));
      }
      for (const int32_t number : each.inputs) inputs.push_back(tensor_text(subgraph, number));
      std::vector<std::string> options;
      for (const auto& [name, value] : each.options) options.push_back(name + " " + value);
      text += fmt::format("  {} = {}({})", fmt::join(results, ", "), each.name, fmt::join(inputs, ", "));
      text += options.empty() ? "\n" : fmt::format(" {{{}}}\n", fmt::join(options, ", "));
    }
  }
  return text;
}

}  // namespace

bool is_litert_file(std::string_view bytes) {
  return bytes.size() >= 2 * kOffset && bytes.compare(kIdentifierAt, kOffset, kIdentifier) == 0;
}

ReadFile read_file(std::string_view bytes, const std::string& path) {
  const Bytes view(bytes, path);
  if (!is_litert_file(bytes)) view.fail("the identifier TFL3 is missing");
  const TableView root(view, view.target(0));
  ReadFile file;
  file.description = root.text(3);
  std::vector<ReadBuffer> buffers;
  const std::vector<TableView> buffer_tables = root.tables(4);
  for (const TableView& buffer : buffer_tables) {
    const uint64_t begin = buffer.number<uint64_t>(1), size = buffer.number<uint64_t>(2);
    if (begin > 1 && (begin > view.size() || view.size() - begin < size)) view.fail("data lie behind the file's end");
    if (begin > 1) {
      buffers.push_back({begin, size});
    } else {
      const auto [inner_begin, inner_size] = buffer.bytes(0);
      buffers.push_back({inner_begin, inner_size});
    }
    file.constant_bytes += buffers.back().bytes;
  }
  std::vector<ReadCode> codes;
  for (const TableView& code : root.tables(1)) codes.push_back(read_code(code));
  for (const TableView& each : root.tables(2)) file.subgraphs.push_back(read_subgraph(view, each, codes, buffers));
  for (const TableView& metadata : root.tables(6)) {
    const auto buffer = metadata.number<uint32_t>(1);
    if (buffer >= buffer_tables.size()) view.fail(fmt::format("metadata refer to buffer {}", buffer));
    file.metadata[metadata.text(0)] = buffer_tables[buffer].text(0);
  }
  const std::string runtime = file.metadata["min_runtime_version"];
  file.least_runtime = runtime.substr(0, runtime.find('?'));  // zeros follow
  for (const TableView& each : root.tables(7)) {
    file.signatures.push_back(
        {each.text(2), each.number<uint32_t>(4), read_ports(each.tables(0)), read_ports(each.tables(1))});
  }
  return file;
}

std::string to_text(const ReadFile& file) {
  std::string text = "LiteRT file";
  if (!file.description.empty()) text += " by " + file.description;
  if (!file.least_runtime.empty()) text += ", min_runtime_version " + file.least_runtime;
  text += fmt::format("\nweights: {} bytes\n", file.constant_bytes);
  for (const ReadSignature& signature : file.signatures) {
    text += fmt::format("signature {} (subgraph {})\n", signature.key, signature.subgraph);
    text += "  inputs\n" + ports_text(file, signature, signature.inputs);
    text += "  outputs\n" + ports_text(file, signature, signature.outputs);
  }
  return text + counts_of(file) + all_text(file);
}

nlohmann::json to_json(const ReadFile& file) {
  nlohmann::json form = {{"description", file.description},
                         {"min_runtime_version", file.least_runtime},
                         {"constant_bytes", file.constant_bytes},
                         {"signatures", nlohmann::json::array()},
                         {"subgraphs", nlohmann::json::array()}};
  const auto ports = [](const std::vector<ReadPort>& list) {
    nlohmann::json result = nlohmann::json::array();
    for (const ReadPort& port : list) result.push_back({{"name", port.name}, {"tensor", port.tensor}});
    return result;
  };
  for (const ReadSignature& each : file.signatures) {
    form["signatures"].push_back({{"key", each.key},
                                  {"subgraph", each.subgraph},
                                  {"inputs", ports(each.inputs)},
                                  {"outputs", ports(each.outputs)}});
  }
  for (const ReadSubgraph& subgraph : file.subgraphs) {
    nlohmann::json part = {{"name", subgraph.name}, {"inputs", subgraph.inputs}, {"outputs", subgraph.outputs}};
    part["tensors"] = part["operators"] = nlohmann::json::array();
    for (const ReadTensor& tensor : subgraph.tensors) {
      part["tensors"].push_back({{"name", tensor.name},
                                 {"type", tensor.type},
                                 {"shape", tensor.signature.empty() ? tensor.shape : tensor.signature},
                                 {"constant_bytes", tensor.constant_bytes},
                                 {"scales", tensor.scales},
                                 {"zero_points", tensor.zero_points},
                                 {"channel_axis", tensor.channel_axis}});
    }
    for (const ReadOperator& each : subgraph.operators) {
      nlohmann::json entry = {
          {"name", each.name}, {"version", each.version}, {"inputs", each.inputs}, {"outputs", each.outputs}};
      for (const auto& [name, value] : each.options) entry["options"][name] = value;
      part["operators"].push_back(std::move(entry));
    }
    form["subgraphs"].push_back(std::move(part));
  }
  return form;
}

}  // namespace nnapi_convert::litert
