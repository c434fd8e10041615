// SPDX-License-Identifier: BSD-3-Clause
#include "lib/format/device_profile.h"

#include <algorithm>

#include "lib/format/json_value.h"
#include "lib/format/operation_table.h"

namespace nnapi_convert {
namespace {

constexpr int kHighestLevel = 8;

// The parts of argument names for one direction of an image, and the positions of its axis.
struct Direction {
  std::string before, after, size;  // padding_BEFORE, stride_SIZE
  std::size_t in_nhwc, in_nchw, in_filter;
};

const std::vector<Direction>& directions() {
  static const std::vector<Direction> both = {{"top", "bottom", "height", 1, 2, 1},
                                              {"left", "right", "width", 2, 3, 2}};
  return both;
}

std::optional<int64_t> known_size(const JudgedOperand* operand, std::size_t axis) {
  if (operand == nullptr || !operand->sizes || axis >= operand->sizes->size()) return std::nullopt;
  const int64_t size = (*operand->sizes)[axis];
  return size == kUnknownSize ? std::nullopt : std::optional<int64_t>(size);
}

// Returns true if the padding equals the padding of the scheme SAME: enough for ceil(size / stride) windows; an odd
// element is added after the image.
bool equals_same(const JudgedOperation& operation, const Direction& direction) {
  const JudgedOperand* filter = operation.find("filter");
  const auto size = known_size(operation.find("input"), operation.is_nchw() ? direction.in_nchw : direction.in_nhwc);
  const auto window =
      filter == nullptr ? operation.number("filter_" + direction.size) : known_size(filter, direction.in_filter);
  const auto stride = operation.number("stride_" + direction.size);
  const auto before = operation.number("padding_" + direction.before);
  const auto after = operation.number("padding_" + direction.after);
  const bool is_dilated = operation.find("dilation_" + direction.size) != nullptr;
  const auto dilation = is_dilated ? operation.number("dilation_" + direction.size) : std::optional<int64_t>(1);
  if (!size || !window || !stride || !before || !after || !dilation || *stride < 1) return false;
  const int64_t windows = (*size + *stride - 1) / *stride;
  const int64_t reach = (windows - 1) * *stride + (*window - 1) * *dilation + 1;
  const int64_t added = std::max<int64_t>(reach - *size, 0);
  return *before == added / 2 && *after == added - added / 2;
}

// Returns true if the condition holds for an operand of the argument.
template <typename Condition>
bool any(const JudgedOperation& operation, const std::string& argument, const Condition& condition) {
  return std::any_of(operation.operands.begin(), operation.operands.end(), [&](const JudgedOperand& operand) {
    return (argument == "*" || argument == operand.argument) && condition(operand);
  });
}

PaddingStyle padding_of(const JsonValue& item) {
  const std::string name = item.text();
  if (name == "SAME") return PaddingStyle::kSame;
  if (name == "VALID") return PaddingStyle::kValid;
  if (name == "EXPLICIT") return PaddingStyle::kExplicit;
  item.fail("SAME, VALID or EXPLICIT");
}

bool is_nchw(const JsonValue& item) {
  const std::string name = item.text();
  if (name != "NHWC" && name != "NCHW") item.fail("NHWC or NCHW");
  return name == "NCHW";
}

DeviceRule::Range range_of(const JsonValue& item) {
  const std::vector<JsonValue> ends = item.elements(false);
  if (ends.size() != 2) item.fail("[least, greatest]");
  const DeviceRule::Range range{ends[0].integer(), ends[1].integer()};
  if (range.least < 0 || range.greatest < range.least) item.fail("[least, greatest]");
  return range;
}

bool has_sizes(const JudgedOperand& operand, const std::vector<int64_t>& sizes) {
  return operand.sizes &&
         std::equal(operand.sizes->begin(), operand.sizes->end(), sizes.begin(), sizes.end(),
                    [](int64_t is, int64_t should) { return should == DeviceRule::kAnySize || is == should; });
}

std::vector<DeviceRule> rules_of(const JsonValue& list) {
  std::vector<DeviceRule> rules;
  for (const JsonValue& source : list.elements(true)) {
    DeviceRule& rule = rules.emplace_back();
    for (const auto& [key, item] : source.members()) {
      if (key == "operations") {
        rule.operations = item.set_of(operation_of);
      } else if (key == "types") {
        rule.types = item.map_of([](const JsonValue& types) { return types.set_of(operand_type_of); });
      } else if (key == "ranks") {
        rule.ranks = item.map_of(range_of);
      } else if (key == "constants") {
        rule.constants = item.map_of([](const JsonValue& flag) { return flag.flag(); });
      } else if (key == "paddings") {
        rule.paddings = item.set_of(padding_of);
      } else if (key == "layouts") {
        rule.nchw = item.set_of(is_nchw);
      } else if (key == "strides") {
        rule.strides = range_of(item);
      } else if (key == "sizes") {
        rule.sizes = item.map_of([](const JsonValue& lists) {
          return lists.set_of([](const JsonValue& one) { return read_sizes(one, DeviceRule::kAnySize); });
        });
      } else if (key == "after") {
        read_predecessors(item, rule.after, rule.is_after_input);
      } else if (key == "reason") {
        rule.reason = item.text();
      } else {
        item.fail("another key");
      }
    }
  }
  return rules;
}

// Returns ANEURALNETWORKS_DEVICE_OTHER, _CPU, _GPU or _ACCELERATOR: 1 to 4.
int32_t device_type_of(const JsonValue& item) {
  static const std::vector<std::string> types = {"other", "cpu", "gpu", "accelerator"};
  const auto found = std::find(types.begin(), types.end(), item.text());
  if (found == types.end()) item.fail("other, cpu, gpu or accelerator");
  return static_cast<int32_t>(found - types.begin()) + 1;
}

int level_of(const JsonValue& item) {
  const int64_t level = item.integer();
  if (level < 1 || level > kHighestLevel) item.fail("1 to " + std::to_string(kHighestLevel));
  return static_cast<int>(level);
}

void read_device(const JsonValue& source, DeviceRules& rules) {
  std::set<std::string> missing = {"name", "version", "type", "feature_level"};
  for (const auto& [key, item] : source.members()) {
    if (missing.erase(key) == 0) item.fail("another key");
    if (key == "name") rules.name = item.text();
    if (key == "version") rules.version = item.text();
    if (key == "type") rules.type = device_type_of(item);
    if (key == "feature_level") rules.feature_level = level_of(item);
  }
  if (!missing.empty()) source.fail_without(*missing.begin());
}

}  // namespace

std::vector<int64_t> read_sizes(const JsonValue& list, int64_t least) {
  std::vector<int64_t> sizes;
  for (const JsonValue& size : list.elements(true)) {
    sizes.push_back(size.integer());
    if (sizes.back() < least) size.fail(least > 0 ? "a size above 0" : "0 or more");
  }
  return sizes;
}

void read_predecessors(const JsonValue& names, std::set<OperationCode>& after, bool& is_after_input) {
  for (const JsonValue& name : names.elements(false)) {
    if (name.text() == "INPUT") {
      is_after_input = true;
    } else {
      after.insert(operation_of(name));
    }
  }
}

OperationCode operation_of(const JsonValue& name) {
  const OperationInfo* info = find_operation(name.text().c_str());
  if (info == nullptr) name.fail("the name of an NNAPI operation");
  return info->code;
}

OperandCode operand_type_of(const JsonValue& name) {
  const std::string text = name.text();
  for (int32_t code = 0; find_operand_type(static_cast<OperandCode>(code)) != nullptr; ++code) {
    if (text == name_of(static_cast<OperandCode>(code))) return static_cast<OperandCode>(code);
  }
  name.fail("the name of an NNAPI operand type");
}

const JudgedOperand* JudgedOperation::find(const std::string& argument) const {
  for (const JudgedOperand& operand : operands) {
    if (argument == operand.argument) return &operand;
  }
  return nullptr;
}

std::optional<int64_t> JudgedOperation::number(const std::string& argument) const {
  const JudgedOperand* operand = find(argument);
  return operand == nullptr ? std::nullopt : operand->number;
}

std::optional<PaddingStyle> JudgedOperation::padding_style() const {
  if (find("padding_scheme") != nullptr) {
    const auto scheme = number("padding_scheme");
    if (!scheme) return PaddingStyle::kExplicit;
    return *scheme == static_cast<int64_t>(PaddingScheme::SAME) ? PaddingStyle::kSame : PaddingStyle::kValid;
  }
  if (find("padding_left") == nullptr) return std::nullopt;
  bool is_none = true, is_same = code != OperationCode::TRANSPOSE_CONV_2D;
  for (const Direction& direction : directions()) {
    is_none = is_none && number("padding_" + direction.before) == 0 && number("padding_" + direction.after) == 0;
    is_same = is_same && equals_same(*this, direction);
  }
  if (is_none) return PaddingStyle::kValid;
  return is_same ? PaddingStyle::kSame : PaddingStyle::kExplicit;
}

bool DeviceRule::is_unconditional() const {
  return types.empty() && ranks.empty() && constants.empty() && paddings.empty() && nchw.empty() && !strides &&
         sizes.empty() && !asks_predecessors();
}

bool DeviceRule::holds(const JudgedOperation& operation) const {
  if (!operations.empty() && operations.count(operation.code) == 0) return false;
  if (!nchw.empty() && (operation.find("layout") == nullptr || nchw.count(operation.is_nchw()) == 0)) return false;
  if (!paddings.empty()) {
    const auto style = operation.padding_style();
    if (!style || paddings.count(*style) == 0) return false;
  }
  const auto strides_at = [&](const Direction& direction) {
    const auto stride = operation.number("stride_" + direction.size);
    return stride && strides->holds(*stride);
  };
  if (strides && std::none_of(directions().begin(), directions().end(), strides_at)) return false;
  for (const auto& [argument, allowed] : types) {
    const auto fits = [&types = allowed](const JudgedOperand& each) { return types.count(each.type) != 0; };
    if (!any(operation, argument, fits)) return false;
  }
  for (const auto& [argument, allowed] : ranks) {
    const auto fits = [&range = allowed](const JudgedOperand& each) {
      return each.sizes && range.holds(static_cast<int64_t>(each.sizes->size()));
    };
    if (!any(operation, argument, fits)) return false;
  }
  for (const auto& [argument, needed] : constants) {
    const auto fits = [constant = needed](const JudgedOperand& each) { return each.is_constant == constant; };
    if (!any(operation, argument, fits)) return false;
  }
  for (const auto& [argument, allowed] : sizes) {
    const auto fits = [&lists = allowed](const JudgedOperand& each) {
      return std::any_of(lists.begin(), lists.end(), [&](const auto& list) { return has_sizes(each, list); });
    };
    if (!any(operation, argument, fits)) return false;
  }
  if (!asks_predecessors() || (is_after_input && operation.reads_input)) return true;
  return std::any_of(after.begin(), after.end(), [&](OperationCode code) { return operation.after.count(code) != 0; });
}

DeviceRules DeviceRules::parse(const std::string& text, const std::string& what) {
  const nlohmann::json json = parsed_json(text, what);
  const JsonValue source{json, what};
  DeviceRules rules;
  std::set<std::string> missing = {"version", "device"};
  for (const auto& [key, item] : source.members()) {
    missing.erase(key);
    if (key == "version") {
      if (item.integer() != 1) item.fail("version 1");
    } else if (key == "device") {
      read_device(item, rules);
    } else if (key == "accepts") {
      rules.accepts = rules_of(item);
    } else if (key == "refuses") {
      rules.refuses = rules_of(item);
    } else {
      item.fail("another key");
    }
  }
  if (!missing.empty()) source.fail_without(*missing.rbegin());
  return rules;
}

bool DeviceRules::asks_predecessors() const {
  const auto asks = [](const DeviceRule& rule) { return rule.asks_predecessors(); };
  return std::any_of(refuses.begin(), refuses.end(), asks) ||
         (accepts && std::any_of(accepts->begin(), accepts->end(), asks));
}

std::string DeviceRules::refusal(const JudgedOperation& operation) const {
  const auto holds = [&](const DeviceRule& rule) { return rule.holds(operation); };
  const auto refusing = std::find_if(refuses.begin(), refuses.end(), holds);
  if (refusing != refuses.end()) {
    return refusing->reason.empty() ? "a rule of the profile refuses it" : refusing->reason;
  }
  const bool is_accepted = !accepts || std::any_of(accepts->begin(), accepts->end(), holds);
  return is_accepted ? "" : "no rule of the profile accepts it";
}

}  // namespace nnapi_convert
