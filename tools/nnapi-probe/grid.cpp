// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/grid.h"

#include <algorithm>

#include "lib/format/operation_table.h"

namespace nnapi_probe {
namespace {

using nnapi_convert::name_of;
using nnapi_convert::TableView;

constexpr int32_t kHighestRank = 4;  // NNAPI takes rank 4 everywhere, and models need no higher ranks

// The operations to ask about: those in models made by converters, without stateful operations, detection, lookups,
// random numbers and control flow.
constexpr OperationCode kOperations[] = {
    OperationCode::ADD,
    OperationCode::AVERAGE_POOL_2D,
    OperationCode::CONCATENATION,
    OperationCode::CONV_2D,
    OperationCode::DEPTHWISE_CONV_2D,
    OperationCode::DEPTH_TO_SPACE,
    OperationCode::DEQUANTIZE,
    OperationCode::FLOOR,
    OperationCode::FULLY_CONNECTED,
    OperationCode::L2_NORMALIZATION,
    OperationCode::L2_POOL_2D,
    OperationCode::LOCAL_RESPONSE_NORMALIZATION,
    OperationCode::LOGISTIC,
    OperationCode::MAX_POOL_2D,
    OperationCode::MUL,
    OperationCode::RELU,
    OperationCode::RELU1,
    OperationCode::RELU6,
    OperationCode::RESHAPE,
    OperationCode::RESIZE_BILINEAR,
    OperationCode::SOFTMAX,
    OperationCode::SPACE_TO_DEPTH,
    OperationCode::TANH,
    OperationCode::BATCH_TO_SPACE_ND,
    OperationCode::DIV,
    OperationCode::MEAN,
    OperationCode::PAD,
    OperationCode::SPACE_TO_BATCH_ND,
    OperationCode::SQUEEZE,
    OperationCode::STRIDED_SLICE,
    OperationCode::SUB,
    OperationCode::TRANSPOSE,
    OperationCode::ABS,
    OperationCode::ARGMAX,
    OperationCode::ARGMIN,
    OperationCode::CAST,
    OperationCode::CHANNEL_SHUFFLE,
    OperationCode::EQUAL,
    OperationCode::EXP,
    OperationCode::EXPAND_DIMS,
    OperationCode::GATHER,
    OperationCode::GREATER,
    OperationCode::GREATER_EQUAL,
    OperationCode::GROUPED_CONV_2D,
    OperationCode::INSTANCE_NORMALIZATION,
    OperationCode::LESS,
    OperationCode::LESS_EQUAL,
    OperationCode::LOG,
    OperationCode::LOGICAL_AND,
    OperationCode::LOGICAL_NOT,
    OperationCode::LOGICAL_OR,
    OperationCode::LOG_SOFTMAX,
    OperationCode::MAXIMUM,
    OperationCode::MINIMUM,
    OperationCode::NEG,
    OperationCode::NOT_EQUAL,
    OperationCode::PAD_V2,
    OperationCode::POW,
    OperationCode::PRELU,
    OperationCode::QUANTIZE,
    OperationCode::REDUCE_ALL,
    OperationCode::REDUCE_ANY,
    OperationCode::REDUCE_MAX,
    OperationCode::REDUCE_MIN,
    OperationCode::REDUCE_PROD,
    OperationCode::REDUCE_SUM,
    OperationCode::RSQRT,
    OperationCode::SELECT,
    OperationCode::SIN,
    OperationCode::SLICE,
    OperationCode::SPLIT,
    OperationCode::SQRT,
    OperationCode::TILE,
    OperationCode::TOPK_V2,
    OperationCode::TRANSPOSE_CONV_2D,
    OperationCode::RESIZE_NEAREST_NEIGHBOR,
    OperationCode::ELU,
    OperationCode::HARD_SWISH,
    OperationCode::BATCH_MATMUL,
    OperationCode::PACK,
    OperationCode::MIRROR_PAD,
    OperationCode::REVERSE,
};

const ArgumentInfo* find(const TableView<ArgumentInfo>& arguments, const std::string& name) {
  const auto* found = std::find_if(arguments.begin(), arguments.end(),
                                   [&](const ArgumentInfo& argument) { return argument.name == name; });
  return found == arguments.end() ? nullptr : found;
}

bool is_tensor(const SignatureInfo& signature, const ArgumentInfo& argument) {
  return !is_scalar(argument.type_in(signature.combinations[0]));
}

// Returns the arguments whose types vary, one for each type variable, without biases, whose types follow from others.
std::vector<std::pair<std::string, int8_t>> typed_arguments(const SignatureInfo& signature) {
  std::vector<std::pair<std::string, int8_t>> found;
  const auto add = [&](const TableView<ArgumentInfo>& arguments) {
    for (const ArgumentInfo& argument : arguments) {
      const std::string name = argument.name;
      if (argument.type_variable < 0 || !is_tensor(signature, argument) || name == "bias") continue;
      const bool is_known = std::any_of(found.begin(), found.end(),
                                        [&](const auto& other) { return other.second == argument.type_variable; });
      if (!is_known) found.emplace_back(name, argument.type_variable);
    }
  };
  add(signature.inputs);
  add(signature.outputs);
  return found;
}

const ArgumentInfo& ranked_argument(const SignatureInfo& signature) {
  return *std::find_if(signature.inputs.begin(), signature.inputs.end(),
                       [&](const ArgumentInfo& argument) { return is_tensor(signature, argument); });
}

// Returns the arguments that are constant in most models and that a driver may require to be constant.
std::vector<std::string> weight_arguments(const SignatureInfo& signature) {
  std::vector<std::string> names;
  for (const char* name : {"filter", "weights", "bias", "input2", "alpha"}) {
    const ArgumentInfo* argument = find(signature.inputs, name);
    if (argument && is_tensor(signature, *argument)) names.emplace_back(name);
  }
  return names;
}

// Returns the least and the greatest rank to ask about.
std::pair<int32_t, int32_t> ranks(const OperationInfo& operation, const SignatureInfo& signature) {
  const ArgumentInfo& argument = ranked_argument(signature);
  int32_t least = argument.min_rank;
  // These operations would turn a vector into a scalar.
  if (operation.code == OperationCode::SQUEEZE || operation.has(nnapi_convert::OperationTrait::kGivesPlaces)) {
    least = 2;
  }
  const bool is_limited = argument.max_rank != nnapi_convert::kAnyRank;
  return {least, is_limited ? std::min<int32_t>(argument.max_rank, kHighestRank) : kHighestRank};
}

// Returns false for a signature that only expresses another one differently: sizes by scale.
bool is_asked(const SignatureInfo& signature) {
  return std::string(signature.name) != "by_scale";
}

void add_conditions(OperationGrid& grid) {
  const SignatureInfo& signature = grid.operation->signatures[0];
  for (const auto& [name, variable] : typed_arguments(signature))
    grid.conditions.push_back({ConditionKind::kType, name});
  const auto [least, greatest] = ranks(*grid.operation, signature);
  if (least != greatest) grid.conditions.push_back({ConditionKind::kRank, ranked_argument(signature).name});
  for (const std::string& name : weight_arguments(signature)) {
    grid.conditions.push_back({ConditionKind::kConstant, name});
  }
  if (grid.operation->signatures.size() == 2 && find(signature.inputs, "stride_width")) {
    grid.conditions.push_back({ConditionKind::kPadding, ""});
  }
  if (find(signature.inputs, "layout")) grid.conditions.push_back({ConditionKind::kLayout, ""});
  if (find(signature.inputs, "stride_width")) grid.conditions.push_back({ConditionKind::kStride, ""});
}

// Returns the values of a condition to ask about, for a signature and a combination of types.
std::vector<int32_t> choices(const OperationGrid& grid, const Condition& condition, const SignatureInfo& signature,
                             const TypeCombination& types) {
  switch (condition.kind) {
    case ConditionKind::kType:
      for (const auto& [name, variable] : typed_arguments(signature)) {
        if (name == condition.argument) return {static_cast<int32_t>(types.types[variable])};
      }
      return {};
    case ConditionKind::kRank: {
      const auto [least, greatest] = ranks(*grid.operation, signature);
      std::vector<int32_t> all;
      for (int32_t rank = least; rank <= greatest; ++rank) all.push_back(rank);
      return all;
    }
    case ConditionKind::kConstant: {
      const ArgumentInfo* argument = find(signature.inputs, condition.argument);
      const bool is_per_channel = argument->type_in(types) == OperandCode::TENSOR_QUANT8_SYMM_PER_CHANNEL;
      return is_per_channel ? std::vector<int32_t>{1} : std::vector<int32_t>{1, 0};
    }
    case ConditionKind::kPadding:
      if (find(signature.inputs, "padding_scheme")) {
        return {static_cast<int32_t>(Padding::kSame), static_cast<int32_t>(Padding::kValid)};
      }
      return {static_cast<int32_t>(Padding::kExplicit)};
    case ConditionKind::kLayout:
      return {0, 1};
    case ConditionKind::kStride:
      return {1, 2};
  }
  return {};
}

void add_points(OperationGrid& grid, const SignatureInfo& signature, const TypeCombination& types) {
  std::vector<std::vector<int32_t>> all = {{}};
  for (const Condition& condition : grid.conditions) {
    std::vector<std::vector<int32_t>> longer;
    for (const std::vector<int32_t>& values : all) {
      for (const int32_t choice : choices(grid, condition, signature, types)) {
        longer.push_back(values);
        longer.back().push_back(choice);
      }
    }
    all = std::move(longer);
  }
  for (std::vector<int32_t>& values : all) grid.points.push_back({&signature, &types, std::move(values)});
}

std::string value_text(const Condition& condition, int32_t value) {
  static const char* const kPaddings[] = {"SAME", "VALID", "EXPLICIT"};
  switch (condition.kind) {
    case ConditionKind::kType:
      return condition.argument + "=" + name_of(static_cast<OperandCode>(value));
    case ConditionKind::kRank:
      return condition.argument + ".rank=" + std::to_string(value);
    case ConditionKind::kConstant:
      return condition.argument + (value != 0 ? "=constant" : "=computed");
    case ConditionKind::kPadding:
      return kPaddings[value];
    case ConditionKind::kLayout:
      return value != 0 ? "NCHW" : "NHWC";
    case ConditionKind::kStride:
      return "stride=" + std::to_string(value);
  }
  return "";
}

}  // namespace

bool is_scalar(OperandCode type) {
  return type == OperandCode::FLOAT32 || type == OperandCode::FLOAT16 || type == OperandCode::INT32 ||
         type == OperandCode::UINT32 || type == OperandCode::BOOL;
}

int32_t OperationGrid::value(const Point& point, ConditionKind kind, const std::string& argument,
                             int32_t absent) const {
  const auto found = std::find(conditions.begin(), conditions.end(), Condition{kind, argument});
  return found == conditions.end() ? absent : point.values[static_cast<size_t>(found - conditions.begin())];
}

std::vector<OperationGrid> make_grid(int32_t feature_level) {
  std::vector<OperationGrid> grids;
  for (const OperationCode code : kOperations) {
    OperationGrid grid;
    grid.operation = nnapi_convert::find_operation(code);
    if (grid.operation->since > feature_level) continue;
    add_conditions(grid);
    for (const SignatureInfo& signature : grid.operation->signatures) {
      if (!is_asked(signature) || signature.since > feature_level) continue;
      for (const TypeCombination& types : signature.combinations) {
        if (types.since <= feature_level) add_points(grid, signature, types);
      }
    }
    grids.push_back(std::move(grid));
  }
  return grids;
}

std::string to_text(const OperationGrid& grid, const Point& point) {
  std::string text = grid.operation->name;
  for (size_t i = 0; i < grid.conditions.size(); ++i) text += " " + value_text(grid.conditions[i], point.values[i]);
  return text;
}

}  // namespace nnapi_probe
