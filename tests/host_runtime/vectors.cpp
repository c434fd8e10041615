#include "tests/host_runtime/vectors.h"

#include <c10/util/Half.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "lib/format/operation_table.h"

namespace vectors {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A temporary folder, removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "nnapi_vectors_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

int level_of(const std::string& version) {
  static const std::map<std::string, int> kLevels = {{"V1_0", 1},    {"V1_1", 2},    {"V1_2", 3},   {"V1_3", 4},
                                                     {"AIDL_V1", 5}, {"AIDL_V2", 6}, {"AIDL_V3", 7}};
  const auto found = kLevels.find(version);
  return found == kLevels.end() ? 0 : found->second;
}

OperandCode operand_code(const std::string& name) {
  if (name == "SUBGRAPH") return OperandCode::MODEL;
  for (int32_t code = 0; code <= static_cast<int32_t>(OperandCode::MODEL); ++code) {
    if (name == nnapi_convert::name_of(static_cast<OperandCode>(code))) return static_cast<OperandCode>(code);
  }
  throw std::runtime_error("unknown operand type " + name);
}

std::vector<double> numbers(const json& values) {
  std::vector<double> result;
  for (const json& value : values) {
    if (value.is_boolean()) {
      result.push_back(value.get<bool>() ? 1 : 0);
    } else if (value.is_string()) {
      result.push_back(std::strtod(value.get<std::string>().c_str(), nullptr));
    } else {
      result.push_back(value.get<double>());
    }
  }
  return result;
}

Operand read_operand(const json& source) {
  Operand operand;
  operand.type = operand_code(source["type"]);
  operand.dims = source["dimensions"].get<std::vector<uint32_t>>();
  operand.scale = source["scale"];
  operand.zero_point = source["zero_point"];
  operand.lifetime = source["lifetime"];
  operand.ignored = source.value("ignored", false);
  if (source.contains("values")) operand.values = numbers(source["values"]);
  if (!source["channel_quant"].is_null()) {
    operand.channel_dim = source["channel_quant"]["channel_dim"];
    operand.channel_scales = source["channel_quant"]["scales"].get<std::vector<float>>();
  }
  return operand;
}

Case read_case(const std::string& spec, const json& source) {
  Case result;
  result.spec = spec;
  result.name = source["name"];
  result.min_level = level_of(source["min_version"]);
  result.relaxed = source["relaxed"];
  result.expect_failure = source["expect_failure"];
  result.zero_sized = source["zero_sized"];
  result.dynamic_output_shape = source["dynamic_output_shape"];
  result.quant8_coupling = source["quant8_coupling"];
  result.has_subgraphs = source.contains("referenced_subgraphs") && !source["referenced_subgraphs"].empty();
  for (const json& operand : source["operands"]) result.operands.push_back(read_operand(operand));
  for (const json& operation : source["operations"]) {
    const std::string name = operation["type"];
    const auto* info = nnapi_convert::find_operation(name.c_str());
    if (!info) throw std::runtime_error("unknown operation " + name);
    result.operations.push_back({info->code, operation["inputs"].get<std::vector<uint32_t>>(),
                                 operation["outputs"].get<std::vector<uint32_t>>()});
  }
  result.inputs = source["inputs"].get<std::vector<uint32_t>>();
  result.outputs = source["outputs"].get<std::vector<uint32_t>>();
  for (const auto& [index, values] : source["input_values"].items()) {
    result.operands.at(std::stoul(index)).values = numbers(values);
  }
  for (const auto& [index, values] : source["expected_outputs"].items()) {
    result.operands.at(std::stoul(index)).expected = numbers(values);
  }
  result.multinomial_tolerance = source["tolerance"].value("multinomial", 0.0);
  for (const auto& [type, tolerance] : source["tolerance"].items()) {
    if (!tolerance.is_object() || !tolerance.contains("atol")) continue;
    result.tolerances[operand_code(type)] = {tolerance["atol"], tolerance["rtol"]};
  }
  return result;
}

int read_folder(const fs::path& folder, const std::function<void(const Case&)>& use) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int count = 0;
  for (const fs::path& file : files) {
    std::ifstream stream(file);
    const json content = json::parse(stream);
    const std::string spec = content["feature_level"].get<std::string>() + "/" + content["spec"].get<std::string>();
    for (const json& source : content["cases"]) {
      use(read_case(spec, source));
      ++count;
    }
  }
  return count;
}

template <typename T>
std::vector<uint8_t> pack(const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <typename T>
std::vector<double> unpack(const std::vector<uint8_t>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

// Calls `use` with a value of the C++ type that holds the operand type.
template <typename Use>
auto with_storage(OperandCode type, const Use& use) {
  switch (type) {
    case OperandCode::FLOAT32:
    case OperandCode::TENSOR_FLOAT32:
      return use(float());
    case OperandCode::FLOAT16:
    case OperandCode::TENSOR_FLOAT16:
      return use(c10::Half());
    case OperandCode::INT32:
    case OperandCode::TENSOR_INT32:
      return use(int32_t());
    case OperandCode::UINT32:
      return use(uint32_t());
    case OperandCode::TENSOR_QUANT16_ASYMM:
      return use(uint16_t());
    case OperandCode::TENSOR_QUANT16_SYMM:
      return use(int16_t());
    case OperandCode::TENSOR_QUANT8_SYMM:
    case OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case OperandCode::TENSOR_QUANT8_ASYMM_SIGNED:
      return use(int8_t());
    default:
      return use(uint8_t());
  }
}

}  // namespace

int for_each_case(const std::string& path, const std::function<void(const Case&)>& use) {
  if (fs::is_directory(path)) return read_folder(path, use);
  if (!fs::exists(path)) throw std::runtime_error(path + ": no such file or folder");
  const TemporaryFolder folder;
  const std::string command = "tar xJf '" + path + "' -C '" + folder.path().string() + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error(path + ": tar cannot unpack it");
  return read_folder(folder.path(), use);
}

Case with_signed_codes(const Case& original) {
  Case result = original;
  result.name += "_signed";
  result.min_level = original.min_level == 0 ? 0 : std::max(original.min_level, 4);
  for (Operand& operand : result.operands) {
    if (operand.type != OperandCode::TENSOR_QUANT8_ASYMM) continue;
    operand.type = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
    operand.zero_point -= 128;
    for (double& value : operand.values) value -= 128;
    for (double& value : operand.expected) value -= 128;
  }
  const auto tolerance = result.tolerances.find(OperandCode::TENSOR_QUANT8_ASYMM);
  if (tolerance != result.tolerances.end()) {
    result.tolerances[OperandCode::TENSOR_QUANT8_ASYMM_SIGNED] = tolerance->second;
  }
  return result;
}

Case with_unknown_outputs(const Case& original) {
  Case result = original;
  result.name += "_dynamic_output_shape";
  result.min_level = original.min_level == 0 ? 0 : std::max(original.min_level, 3);
  for (const uint32_t index : result.outputs) {
    for (uint32_t& extent : result.operands[index].dims) extent = 0;
  }
  return result;
}

bool is_tensor(OperandCode type) {
  return std::strncmp(nnapi_convert::name_of(type), "TENSOR_", 7) == 0;
}

std::vector<uint8_t> to_bytes(OperandCode type, const std::vector<double>& values) {
  return with_storage(type, [&](auto zero) {
    // float16 is rounded from float32, as its source is.
    if constexpr (std::is_same_v<decltype(zero), c10::Half>) {
      std::vector<double> singles;
      for (const double value : values) singles.push_back(static_cast<float>(value));
      return pack<c10::Half>(singles);
    } else {
      return pack<decltype(zero)>(values);
    }
  });
}

std::vector<double> from_bytes(OperandCode type, const std::vector<uint8_t>& bytes) {
  return with_storage(type, [&](auto zero) { return unpack<decltype(zero)>(bytes); });
}

double rounded_to(OperandCode type, double value) {
  return from_bytes(type, to_bytes(type, {value}))[0];
}

}  // namespace vectors
