// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/facts.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "lib/shim/buffer_views.h"
#include "tools/nnapi-probe/doctor/json_text.h"

namespace nnapi_doctor {
namespace {

using nnapi_convert::ArgumentInfo;
using nnapi_convert::OperandCode;
using nnapi_convert::OperationCode;
using nnapi_convert::SignatureInfo;
using nnapi_convert::TableView;
using nnapi_convert::TypeCombination;
using nnapi_shim::OperandView;
using nnapi_shim::OperationView;

// Returns the position of the argument that takes all operands that the others leave; the number of arguments if there
// is none.
size_t variadic_position(const TableView<ArgumentInfo>& arguments) {
  const auto* found =
      std::find_if(arguments.begin(), arguments.end(), [](const ArgumentInfo& argument) { return argument.variadic; });
  return static_cast<size_t>(found - arguments.begin());
}

bool takes_count(const TableView<ArgumentInfo>& arguments, size_t count) {
  const auto needed = static_cast<size_t>(
      std::count_if(arguments.begin(), arguments.end(), [](const ArgumentInfo& each) { return !each.optional; }));
  return count >= needed && (count <= arguments.size() || variadic_position(arguments) < arguments.size());
}

const ArgumentInfo& argument_of(const TableView<ArgumentInfo>& arguments, size_t index, size_t count) {
  const size_t variadic = variadic_position(arguments);
  if (index <= variadic || variadic == arguments.size()) return arguments[index];
  const size_t extra = count - arguments.size();
  return arguments[index <= variadic + extra ? variadic : index - extra];
}

bool fits(const nnapi_shim::SubgraphView& main, const uint32_t* operands, size_t count,
          const TableView<ArgumentInfo>& arguments, const TypeCombination& types) {
  if (!takes_count(arguments, count)) return false;
  for (size_t i = 0; i < count; ++i) {
    const ArgumentInfo& argument = argument_of(arguments, i, count);
    if (!argument.takes(static_cast<OperandCode>(main.operands[operands[i]].type), types)) return false;
  }
  return true;
}

const SignatureInfo* signature_of(const nnapi_shim::SubgraphView& main, const OperationView& operation) {
  const nnapi_convert::OperationInfo* info = nnapi_convert::find_operation(static_cast<OperationCode>(operation.code));
  if (info == nullptr) return nullptr;
  for (const SignatureInfo& signature : info->signatures) {
    for (const TypeCombination& types : signature.combinations) {
      if (fits(main, operation.inputs, operation.input_count, signature.inputs, types) &&
          fits(main, operation.outputs, operation.output_count, signature.outputs, types)) {
        return &signature;
      }
    }
  }
  return nullptr;
}

std::string type_text(int32_t type) {
  return "[" + quoted(nnapi_convert::name_of(static_cast<OperandCode>(type))) + "]";
}

std::string range_text(int64_t number) {
  return "[" + std::to_string(number) + ", " + std::to_string(number) + "]";
}

}  // namespace

std::string sizes_text(const OperandView& operand) {
  std::vector<std::string> sizes;
  for (uint32_t i = 0; i < operand.rank; ++i) sizes.push_back(std::to_string(operand.dims[i]));
  return "[" + joined(sizes) + "]";
}

std::vector<Argument> OperationFacts::arguments(uint32_t number) const {
  const OperationView& operation = main_.operations[number];
  const SignatureInfo* signature = signature_of(main_, operation);
  std::vector<Argument> found;
  if (signature == nullptr) return found;
  for (uint32_t i = 0; i < operation.input_count; ++i) {
    found.push_back({argument_of(signature->inputs, i, operation.input_count).name, operation.inputs[i]});
  }
  for (uint32_t i = 0; i < operation.output_count; ++i) {
    found.push_back({argument_of(signature->outputs, i, operation.output_count).name, operation.outputs[i]});
  }
  return found;
}

const OperandView* OperationFacts::find(const std::vector<Argument>& arguments, const std::string& name) const {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const Argument& argument) { return name == argument.name; });
  return found == arguments.end() ? nullptr : &main_.operands[found->operand];
}

std::optional<int64_t> OperationFacts::number(const std::vector<Argument>& arguments, const std::string& name) const {
  for (const Argument& argument : arguments) {
    if (name != argument.name) continue;
    for (const nnapi_shim::ValueView& value : main_.values) {
      const auto is = [&](OperandCode type) {
        return main_.operands[value.operand].type == static_cast<int32_t>(type);
      };
      if (value.operand != argument.operand || value.data == nullptr) continue;
      if (is(OperandCode::BOOL) && value.length >= 1) return *static_cast<const uint8_t*>(value.data) != 0 ? 1 : 0;
      int32_t word = 0;
      if (!is(OperandCode::INT32) || value.length != sizeof word) continue;
      std::memcpy(&word, value.data, sizeof word);
      return word;
    }
  }
  return std::nullopt;
}

// Returns whether the operation has a layout. Below level 3 operations have no argument for it and use NHWC.
bool OperationFacts::has_layout(uint32_t operation) const {
  const nnapi_convert::OperationInfo* info =
      nnapi_convert::find_operation(static_cast<OperationCode>(main_.operations[operation].code));
  if (info == nullptr) return false;
  return std::any_of(info->signatures.begin(), info->signatures.end(), [](const SignatureInfo& signature) {
    return std::any_of(signature.inputs.begin(), signature.inputs.end(),
                       [](const ArgumentInfo& argument) { return std::strcmp(argument.name, "layout") == 0; });
  });
}

bool OperationFacts::is_nchw(uint32_t operation) const {
  return number(arguments(operation), "layout").value_or(0) != 0;
}

size_t OperationFacts::terms(uint32_t number) const {
  const std::vector<Argument> all = arguments(number);
  for (const char* name : {"filter", "weights", "input1"}) {
    const OperandView* weights = find(all, name);
    const OperandView* output = all.empty() ? nullptr : &main_.operands[main_.operations[number].outputs[0]];
    if (weights == nullptr || output == nullptr || output->rank == 0) continue;
    size_t elements = 1;
    for (uint32_t i = 0; i < weights->rank; ++i) elements *= weights->dims[i];
    const bool is_product = static_cast<OperationCode>(main_.operations[number].code) == OperationCode::BATCH_MATMUL;
    if (std::strcmp(name, "input1") == 0 && !is_product) continue;
    const size_t results = is_product ? weights->dims[weights->rank > 1 ? weights->rank - 2 : 0]
                                      : output->dims[is_nchw(number) && output->rank > 1 ? 1 : output->rank - 1];
    return std::max<size_t>(elements / std::max<size_t>(results, 1), 1);
  }
  const OperationView& operation = main_.operations[number];
  size_t most = 1;
  // Means and pools add up, too: as many elements as the input has for each element of the result.
  uint64_t in = 0, out = 0;
  if (operation.input_count > 0 && nnapi_shim::operand_bytes(main_.operands[operation.inputs[0]], &in) &&
      nnapi_shim::operand_bytes(main_.operands[operation.outputs[0]], &out) && out > 0) {
    most = std::max<size_t>(static_cast<size_t>(in / out), 1);
  }
  return most;
}

uint64_t OperationFacts::multiply_adds(uint32_t number) const {
  const std::vector<Argument> all = arguments(number);
  const OperationView& operation = main_.operations[number];
  const bool is_product = static_cast<OperationCode>(operation.code) == OperationCode::BATCH_MATMUL;
  if (find(all, "filter") == nullptr && find(all, "weights") == nullptr && !is_product) return 0;
  uint64_t count = terms(number);
  const OperandView& output = main_.operands[operation.outputs[0]];
  for (uint32_t i = 0; i < output.rank; ++i) count *= output.dims[i];
  return count;
}

std::vector<Condition> OperationFacts::types(uint32_t number) const {
  const std::vector<Argument> all = arguments(number);
  std::vector<Condition> found;
  bool has_first = false;
  for (const Argument& argument : all) {
    const OperandView& operand = main_.operands[argument.operand];
    if (!nnapi_shim::is_tensor(operand.type)) continue;
    const bool is_telling =
        !has_first || std::strcmp(argument.name, "filter") == 0 || std::strcmp(argument.name, "weights") == 0;
    has_first = true;
    if (is_telling) found.push_back({"types", argument.name, type_text(operand.type)});
  }
  return found;
}

bool OperationFacts::equals_same(uint32_t /*operation*/, const std::vector<Argument>& all, bool is_height) const {
  const std::string size_name = is_height ? "height" : "width";
  const OperandView* input = find(all, "input");
  const OperandView* filter = find(all, "filter");
  const bool is_nchw_image = number(all, "layout").value_or(0) != 0;
  const uint32_t axis = is_nchw_image ? (is_height ? 2 : 3) : (is_height ? 1 : 2);
  if (input == nullptr || input->rank != 4 || (filter != nullptr && filter->rank != 4)) return false;
  const int64_t size = input->dims[axis];
  const int64_t window =
      filter != nullptr ? filter->dims[is_height ? 1 : 2] : number(all, "filter_" + size_name).value_or(0);
  const int64_t stride = number(all, "stride_" + size_name).value_or(0);
  const int64_t dilation = number(all, "dilation_" + size_name).value_or(1);
  if (stride < 1 || window < 1) return false;
  const int64_t windows = (size + stride - 1) / stride;
  const int64_t added = std::max<int64_t>((windows - 1) * stride + (window - 1) * dilation + 1 - size, 0);
  return number(all, is_height ? "padding_top" : "padding_left") == added / 2 &&
         number(all, is_height ? "padding_bottom" : "padding_right") == added - added / 2;
}

// Returns the style of padding, told apart as in lib/format/device_profile.h; empty for an operation without padding.
std::string OperationFacts::padding(uint32_t operation, const std::vector<Argument>& all) const {
  if (const auto scheme = number(all, "padding_scheme")) {
    return *scheme == static_cast<int64_t>(nnapi_convert::PaddingScheme::SAME) ? "SAME" : "VALID";
  }
  if (find(all, "padding_left") == nullptr) return "";
  bool is_none = true;
  for (const char* name : {"padding_left", "padding_right", "padding_top", "padding_bottom"}) {
    is_none = is_none && number(all, name) == 0;
  }
  if (is_none) return "VALID";
  const bool may_be_same =
      static_cast<OperationCode>(main_.operations[operation].code) != OperationCode::TRANSPOSE_CONV_2D;
  return may_be_same && equals_same(operation, all, true) && equals_same(operation, all, false) ? "SAME" : "EXPLICIT";
}

std::vector<Condition> OperationFacts::forms(uint32_t number_of_operation) const {
  const std::vector<Argument> all = arguments(number_of_operation);
  std::vector<Condition> found;
  const auto stride = number(all, "stride_width");
  if (stride && stride == number(all, "stride_height")) found.push_back({"strides", "", range_text(*stride)});
  const std::string style = padding(number_of_operation, all);
  if (!style.empty()) found.push_back({"paddings", "", "[" + quoted(style) + "]"});
  if (find(all, "layout") != nullptr) {
    found.push_back({"layouts", "", is_nchw(number_of_operation) ? "[\"NCHW\"]" : "[\"NHWC\"]"});
  }
  // The result's sizes come first, as they tell most; those of biases tell least.
  std::vector<Argument> ordered = all;
  std::rotate(ordered.begin(), ordered.end() - std::min<ptrdiff_t>(1, static_cast<ptrdiff_t>(all.size())),
              ordered.end());
  std::vector<std::string> named;
  for (const Argument& argument : ordered) {
    const OperandView& operand = main_.operands[argument.operand];
    const bool is_known = std::find(named.begin(), named.end(), argument.name) != named.end();
    if (!nnapi_shim::is_tensor(operand.type) || operand.rank == 0 || is_known) continue;
    named.emplace_back(argument.name);
    found.push_back({"sizes", argument.name, "[" + sizes_text(operand) + "]"});
  }
  for (const Argument& argument : all) {
    const OperandView& operand = main_.operands[argument.operand];
    if (!nnapi_shim::is_tensor(operand.type)) continue;
    found.push_back({"ranks", argument.name, range_text(operand.rank)});
    break;
  }
  return found;
}

std::string OperationFacts::predecessors(uint32_t number) const {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (cutter_.reads_input(number)) add(quoted("INPUT"));
  for (const uint32_t producer : cutter_.producers_of(number)) {
    add(quoted(nnapi_convert::name_of(static_cast<OperationCode>(main_.operations[producer].code))));
  }
  std::sort(names.begin(), names.end());
  return "[" + joined(names) + "]";
}

}  // namespace nnapi_doctor
