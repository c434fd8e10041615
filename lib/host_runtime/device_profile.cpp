#include "lib/host_runtime/device_profile.h"

#include <algorithm>
#include <cstring>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {
namespace {

using Rule = DeviceProfile::Rule;

// Finds an operation's operands by the names of its arguments.
class Arguments {
 public:
  Arguments(const Model& model, const Operation& operation) : model_(model), operation_(operation) {}

  OperationCode code() const { return operation_.code; }
  const Operand& operand(uint32_t index) const { return model_.operands()[index]; }
  const Shape& shape(uint32_t index) const { return model_.shapes()[index]; }

  std::vector<uint32_t> find(const std::string& name) const {
    std::vector<uint32_t> result;
    const auto search = [&](const TableView<ArgumentInfo>& arguments, const std::vector<uint32_t>& indices) {
      for (std::size_t i = 0; i < indices.size(); ++i) {
        const ArgumentInfo& argument = arguments[argument_index(arguments, i, indices.size())];
        if (name == "*" || name == argument.name) result.push_back(indices[i]);
      }
    };
    search(operation_.signature->inputs, operation_.inputs);
    search(operation_.signature->outputs, operation_.outputs);
    return result;
  }

  // Returns the value of a constant scalar; `absent` if the operation lacks the argument; nothing if it is no constant.
  std::optional<int64_t> number(const char* name, std::optional<int64_t> absent = std::nullopt) const {
    const std::vector<uint32_t> found = find(name);
    if (found.empty()) return absent;
    const Operand& operand = this->operand(found[0]);
    if (operand.lifetime != Lifetime::kConstant) return std::nullopt;
    if (operand.type == OperandCode::BOOL) return *static_cast<const uint8_t*>(operand.data) != 0;
    int32_t value = 0;
    std::memcpy(&value, operand.data, sizeof value);
    return value;
  }

 private:
  const Model& model_;
  const Operation& operation_;
};

bool is_nchw(const Arguments& arguments) {
  return arguments.number("layout", 0).value_or(0) != 0;
}

// The names of the arguments along one axis of an image, and the axis's positions in input and filter.
struct Axis {
  const char *stride, *dilation, *filter, *head, *tail;
  std::size_t nhwc, nchw, of_filter;
};
constexpr Axis kAxes[] = {
    {"stride_height", "dilation_height", "filter_height", "padding_top", "padding_bottom", 1, 2, 1},
    {"stride_width", "dilation_width", "filter_width", "padding_left", "padding_right", 2, 3, 2},
};

std::optional<int64_t> filter_extent(const Arguments& arguments, const Axis& axis) {
  const std::vector<uint32_t> filter = arguments.find("filter");
  if (filter.empty()) return arguments.number(axis.filter);
  const Shape& shape = arguments.shape(filter[0]);
  return shape.known() ? std::optional<int64_t>(shape.dims[axis.of_filter]) : std::nullopt;
}

// Returns whether the explicit padding equals the padding of the scheme SAME.
bool is_same(const Arguments& arguments, const Axis& axis) {
  const Shape& input = arguments.shape(arguments.find("input")[0]);
  const auto stride = arguments.number(axis.stride), dilation = arguments.number(axis.dilation, 1);
  const auto filter = filter_extent(arguments, axis);
  const auto head = arguments.number(axis.head), tail = arguments.number(axis.tail);
  if (!input.known() || !stride || !dilation || !filter || !head || !tail || *stride <= 0) return false;
  const int64_t extent = input.dims[is_nchw(arguments) ? axis.nchw : axis.nhwc];
  const int64_t reach = (*filter - 1) * *dilation + 1;
  const int64_t needed = std::max<int64_t>(0, ((extent - 1) / *stride) * *stride + reach - extent);
  return *head == needed / 2 && *tail == needed - needed / 2;
}

// Returns the kind of padding; nothing for an operation without padding.
std::optional<PaddingKind> padding_of(const Arguments& arguments) {
  if (!arguments.find("padding_scheme").empty()) {
    const auto scheme = arguments.number("padding_scheme");
    return scheme == static_cast<int64_t>(PaddingScheme::SAME) ? PaddingKind::kSame : PaddingKind::kValid;
  }
  if (arguments.find("padding_left").empty()) return std::nullopt;
  bool none = true;
  for (const Axis& axis : kAxes) none = none && arguments.number(axis.head) == 0 && arguments.number(axis.tail) == 0;
  if (none) return PaddingKind::kValid;
  if (arguments.code() == OperationCode::TRANSPOSE_CONV_2D) return PaddingKind::kExplicit;
  const bool same =
      std::all_of(std::begin(kAxes), std::end(kAxes), [&](const Axis& a) { return is_same(arguments, a); });
  return same ? PaddingKind::kSame : PaddingKind::kExplicit;
}

// Returns whether at least one of an operation's two strides is in the range.
bool has_stride(const Arguments& arguments, const std::pair<int64_t, int64_t>& range) {
  return std::any_of(std::begin(kAxes), std::end(kAxes), [&](const Axis& axis) {
    const auto stride = arguments.number(axis.stride);
    return stride && *stride >= range.first && *stride <= range.second;
  });
}

template <typename List, typename Item>
bool contains(const List& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Returns whether each named argument has an operand for which its condition holds.
template <typename Conditions, typename Holds>
bool all_hold(const Arguments& arguments, const Conditions& conditions, const Holds& holds) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
    const std::vector<uint32_t> indices = arguments.find(condition.first);
    return std::any_of(indices.begin(), indices.end(), [&](uint32_t index) { return holds(index, condition.second); });
  });
}

bool matches(const Rule& rule, const Arguments& arguments) {
  if (!rule.operations.empty() && !contains(rule.operations, arguments.code())) return false;
  if (!rule.nchw.empty() && (arguments.find("layout").empty() || !contains(rule.nchw, is_nchw(arguments))))
    return false;
  if (!rule.paddings.empty()) {
    const std::optional<PaddingKind> padding = padding_of(arguments);
    if (!padding || !contains(rule.paddings, *padding)) return false;
  }
  if (rule.strides && !has_stride(arguments, *rule.strides)) return false;
  return all_hold(arguments, rule.types,
                  [&](uint32_t i, const auto& types) { return contains(types, arguments.operand(i).type); }) &&
         all_hold(arguments, rule.ranks,
                  [&](uint32_t i, const auto& ranks) {
                    const Shape& shape = arguments.shape(i);
                    const auto rank = static_cast<int64_t>(shape.dims.size());
                    return is_tensor(arguments.operand(i).type) && shape.rank_known && rank >= ranks.first &&
                           rank <= ranks.second;
                  }) &&
         all_hold(arguments, rule.constants, [&](uint32_t i, bool constant) {
           return (arguments.operand(i).lifetime == Lifetime::kConstant) == constant;
         });
}

}  // namespace

std::string DeviceProfile::refusal(const Model& model, const Operation& operation) const {
  try {
    Operation lower = operation;
    lower.feature_level = std::min(operation.feature_level, feature_level_);
    match_signature(lower, model.operands());
  } catch (const Failure& failure) {
    return failure.what();
  }
  const Arguments arguments(model, operation);
  for (const Rule& rule : refuses_) {
    if (!matches(rule, arguments)) continue;
    return rule.reason.empty() ? std::string("its profile refuses it") : rule.reason;
  }
  if (!accepts_) return {};
  const bool accepted =
      std::any_of(accepts_->begin(), accepts_->end(), [&](const Rule& rule) { return matches(rule, arguments); });
  return accepted ? std::string() : "its profile does not accept it";
}

}  // namespace nnapi_convert::host
