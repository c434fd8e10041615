#include "lib/nnapi/device_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

// Finds an operation's operands by the names of its arguments in the operations table.
class NamedOperands {
 public:
  NamedOperands(const Model& model, const Operation& operation) : model_(model) {
    const SignatureInfo* signature = match_signature(model, operation).signature;
    if (signature == nullptr) return;
    for (size_t i = 0; i < operation.inputs.size(); ++i) {
      entries_.push_back({argument_of_input(*signature, i, operation.inputs.size()).name, operation.inputs[i]});
    }
    for (size_t i = 0; i < operation.outputs.size(); ++i) {
      const size_t last = signature->outputs.size() - 1;
      entries_.push_back({signature->outputs[std::min(i, last)].name, operation.outputs[i]});
    }
  }

  const Operand* get(const std::string& name) const {
    for (const Entry& entry : entries_) {
      if (entry.name == name) return &model_.at(entry.id);
    }
    return nullptr;
  }

  // Returns true if the condition holds for an operand of the argument.
  template <typename Condition>
  bool any(const std::string& name, const Condition& condition) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return (name == "*" || entry.name == name) && condition(model_.at(entry.id));
    });
  }

  // Returns the value of a constant INT32 scalar, if the argument is one.
  std::optional<int64_t> integer(const std::string& name) const {
    const Operand* operand = get(name);
    if (operand == nullptr || operand->ints() == nullptr || operand->ints()->size() != 1) return std::nullopt;
    return operand->ints()->front().fixed_value();
  }

  bool is_nchw() const {
    const Operand* layout = get("layout");
    const bool* flag = layout == nullptr ? nullptr : std::get_if<bool>(&layout->value);
    return flag != nullptr && *flag;
  }

 private:
  struct Entry {
    std::string name;
    OperandId id;
  };
  const Model& model_;
  std::vector<Entry> entries_;
};

// The parts of argument names for one direction of an image, and the positions of its axis.
struct Direction {
  std::string before, after, size;  // padding_BEFORE, stride_SIZE
  size_t in_nhwc, in_nchw, in_filter;
};

const std::vector<Direction>& directions() {
  static const std::vector<Direction> both = {{"top", "bottom", "height", 1, 2, 1},
                                              {"left", "right", "width", 2, 3, 2}};
  return both;
}

std::optional<int64_t> window_size(const NamedOperands& operands, const Direction& direction) {
  const Operand* filter = operands.get("filter");
  if (filter == nullptr) return operands.integer("filter_" + direction.size);
  return direction.in_filter < filter->dims.size() ? filter->dims[direction.in_filter].fixed_value() : std::nullopt;
}

// Returns true if the padding equals the padding of the scheme SAME: enough for ceil(size / stride) windows; an odd
// element is added after the image.
bool equals_same(const NamedOperands& operands, const Direction& direction) {
  const Operand* image = operands.get("input");
  const size_t axis = operands.is_nchw() ? direction.in_nchw : direction.in_nhwc;
  if (image == nullptr || image->dims.size() != 4) return false;
  const auto size = image->dims[axis].fixed_value();
  const auto window = window_size(operands, direction);
  const auto stride = operands.integer("stride_" + direction.size);
  const auto before = operands.integer("padding_" + direction.before);
  const auto after = operands.integer("padding_" + direction.after);
  if (!size || !window || !stride || !before || !after || *stride < 1) return false;
  const bool is_dilated = operands.get("dilation_" + direction.size) != nullptr;
  const auto dilation = is_dilated ? operands.integer("dilation_" + direction.size) : std::optional<int64_t>(1);
  if (!dilation) return false;
  const int64_t windows = (*size + *stride - 1) / *stride;
  const int64_t reach = (windows - 1) * *stride + (*window - 1) * *dilation + 1;
  const int64_t added = std::max<int64_t>(reach - *size, 0);
  return *before == added / 2 && *after == added - added / 2;
}

std::optional<PaddingStyle> style_of(OperationCode code, const NamedOperands& operands) {
  if (operands.get("padding_scheme") != nullptr) {
    const auto scheme = operands.integer("padding_scheme");
    if (!scheme) return PaddingStyle::kExplicit;
    return *scheme == static_cast<int64_t>(PaddingScheme::SAME) ? PaddingStyle::kSame : PaddingStyle::kValid;
  }
  if (operands.get("padding_left") == nullptr) return std::nullopt;
  bool is_none = true, is_same = true;
  for (const Direction& direction : directions()) {
    is_none = is_none && operands.integer("padding_" + direction.before) == 0 &&
              operands.integer("padding_" + direction.after) == 0;
    is_same = is_same && equals_same(operands, direction);
  }
  if (is_none) return PaddingStyle::kValid;
  return is_same && code != OperationCode::TRANSPOSE_CONV_2D ? PaddingStyle::kSame : PaddingStyle::kExplicit;
}

// Returns false if a size is not known.
bool has_elements(const Operand& operand, int64_t least) {
  int64_t count = 1;
  for (const Dim& dim : operand.dims) {
    const auto size = dim.fixed_value();
    if (!size || __builtin_mul_overflow(count, *size, &count)) return false;
  }
  return count >= least;
}

bool follows(const DeviceRule& rule, const Model& model, OperandId operand) {
  const auto is_operand = [operand](const Boundary& input) { return input.operand == operand; };
  if (rule.is_after_input && std::any_of(model.inputs.begin(), model.inputs.end(), is_operand)) return true;
  return std::any_of(model.operations.begin(), model.operations.end(), [&](const Operation& each) {
    return rule.after.count(each.code) != 0 &&
           std::find(each.outputs.begin(), each.outputs.end(), operand) != each.outputs.end();
  });
}

// Returns whether the conditions hold that only driver rules have.
bool holds_for_driver(const DeviceRule& rule, const Model& model, const Operation& operation,
                      const NamedOperands& operands) {
  if (rule.elements && !operands.any("*", [&](const Operand& each) { return has_elements(each, *rule.elements); })) {
    return false;
  }
  if (rule.after.empty() && !rule.is_after_input) return true;
  return std::any_of(operation.inputs.begin(), operation.inputs.end(),
                     [&](OperandId input) { return follows(rule, model, input); });
}

bool holds(const DeviceRule& rule, const Model& model, const Operation& operation, const NamedOperands& operands) {
  const OperationCode code = operation.code;
  if (!rule.operations.empty() && rule.operations.count(code) == 0) return false;
  if (!rule.nchw.empty() && (operands.get("layout") == nullptr || rule.nchw.count(operands.is_nchw()) == 0))
    return false;
  if (!rule.paddings.empty()) {
    const auto style = style_of(code, operands);
    if (!style || rule.paddings.count(*style) == 0) return false;
  }
  if (rule.strides) {
    const auto& both = directions();
    const bool any = std::any_of(both.begin(), both.end(), [&](const Direction& direction) {
      const auto stride = operands.integer("stride_" + direction.size);
      return stride && rule.strides->holds(*stride);
    });
    if (!any) return false;
  }
  for (const auto& [name, types] : rule.types) {
    if (!operands.any(name, [&types = types](const Operand& each) { return types.count(each.type) != 0; }))
      return false;
  }
  for (const auto& [name, ranks] : rule.ranks) {
    const auto fits = [&ranks = ranks](const Operand& each) {
      return is_tensor(each.type) && ranks.holds(static_cast<int64_t>(each.dims.size()));
    };
    if (!operands.any(name, fits)) return false;
  }
  for (const auto& [name, constant] : rule.constants) {
    const auto fits = [constant = constant](const Operand& each) {
      return (each.is_constant() && !each.is_omitted() && each.subgraph() == nullptr) == constant;
    };
    if (!operands.any(name, fits)) return false;
  }
  return holds_for_driver(rule, model, operation, operands);
}

}  // namespace

std::optional<PaddingStyle> padding_style(const Model& model, const Operation& operation) {
  return style_of(operation.code, NamedOperands(model, operation));
}

bool runs_in_nchw(const Model& model, const Operation& operation) {
  return NamedOperands(model, operation).is_nchw();
}

bool DeviceRule::is_unconditional() const {
  return types.empty() && ranks.empty() && constants.empty() && paddings.empty() && nchw.empty() && !strides &&
         !elements && after.empty() && !is_after_input;
}

bool DeviceProfile::may_take(OperationCode code) const {
  const auto names = [code](const DeviceRule& rule) { return rule.operations.empty() || rule.operations.count(code); };
  const bool is_refused = std::any_of(refuses_.begin(), refuses_.end(),
                                      [&](const DeviceRule& rule) { return rule.is_unconditional() && names(rule); });
  return !is_refused && (!accepts_ || std::any_of(accepts_->begin(), accepts_->end(), names));
}

std::string DeviceProfile::refusal(const Model& model, const Operation& operation) const {
  const SignatureMatch match = match_signature(model, operation);
  if (match.signature == nullptr) return match.problem;
  if (match.feature_level > feature_level_) {
    return fmt::format("the device has feature level {}, {} needed for these arguments", feature_level_,
                       match.feature_level);
  }
  const NamedOperands operands(model, operation);
  for (const DeviceRule& rule : refuses_) {
    if (!holds(rule, model, operation, operands)) continue;
    return rule.reason.empty() ? "a rule of the profile refuses it" : rule.reason;
  }
  if (!accepts_) return "";
  const bool is_accepted = std::any_of(accepts_->begin(), accepts_->end(),
                                       [&](const DeviceRule& rule) { return holds(rule, model, operation, operands); });
  return is_accepted ? "" : "no rule of the profile accepts it";
}

std::vector<DeviceRefusal> DeviceProfile::refusals(const Model& model) const {
  std::vector<DeviceRefusal> result;
  for (const Model* each : with_subgraphs(model)) {
    for (const Operation& operation : each->operations) {
      std::string reason = refusal(*each, operation);
      if (!reason.empty()) result.push_back({operation.code, operation.source, std::move(reason)});
    }
  }
  return result;
}

}  // namespace nnapi_convert::nnapi
