// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/driver_rules.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lib/format/driver_match.h"
#include "lib/shim/failure.h"
#include "lib/shim/json_text.h"
#include "lib/shim/nnapi_names.h"

namespace nnapi_shim {
namespace {

using nnapi_convert::compare_versions;
using nnapi_convert::fits_pattern;

constexpr char kShipped[] =
#include "lib/shim/driver_rules_text.inc"
    ;
constexpr const char* kTextKeys = "device\0driver\0from\0before\0reason\0";  // in the order of DriverRule::Text

bool after_code(const char* name, int32_t* code) {
  *code = DriverRule::kInput;
  return std::strcmp(name, "INPUT") == 0 || operation_code(name, code);
}

// Reads the rules. needed() tells what the text lacks at the place where the reading ended.
class RuleReader {
 public:
  RuleReader(const char* text, size_t bytes, std::string* texts) : json_(text, bytes), texts_(*texts) {}

  bool read(std::vector<DriverRule>* rules) {
    bool has_version = false, has_rules = false;
    const bool is_read = json_.object([&](const char* key) {
      if (std::strcmp(key, "$schema") == 0) return text(&value_);
      if (std::strcmp(key, "version") == 0)
        return has_version = number(&version_) && (version_ == 1 || need("version 1"));
      if (std::strcmp(key, "rules") != 0) return need("another key");
      return has_rules = json_.list([&] {
        rules->emplace_back();
        return rule(&rules->back());
      });
    });
    return is_read && json_.at_end() && ((has_version && has_rules) || need("version 1 and rules"));
  }
  size_t offset() const { return json_.offset(); }
  const char* needed() const { return needed_; }

 private:
  using CodeOf = bool (*)(const char* name, int32_t* code);

  bool need(const char* what) {
    needed_ = what;
    return false;
  }
  bool text(std::string* value) { return (json_.string(value) && !value->empty()) || need("a text"); }
  bool number(uint64_t* value) { return (json_.integer(value) && *value > 0) || need("a number above 0"); }

  // Adds the codes of a list of names; a null `code_of` ignores the list.
  bool names(CodeSet* codes, CodeOf code_of) {
    return json_.list([&] {
      int32_t code = 0;
      if (!text(&value_)) return false;
      if (!code_of) return true;
      if (!code_of(value_.c_str(), &code)) return need("the name of an NNAPI operation or of a tensor's type");
      codes->add(code);
      return true;
    }) && (!code_of || !codes->is_empty() || need("a name"));
  }

  bool sizes(std::vector<std::vector<uint32_t>>* lists) {
    return json_.list([&] {
      lists->emplace_back();
      return json_.list([&] {
        uint64_t size = 0;
        if (!number(&size)) return false;
        lists->back().push_back(size > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(size));
        return true;
      }) || need("a list of sizes");
    }) && (!lists->empty() || need("a list of sizes"));
  }

  bool rule(DriverRule* rule) {
    const bool is_read = json_.object([&](const char* key) {
      const char* known = kTextKeys;
      for (uint32_t& place : rule->texts) {
        if (std::strcmp(key, known) == 0) {
          place = static_cast<uint32_t>(texts_.size());
          if (!text(&value_)) return false;
          texts_.append(value_.c_str(), value_.size() + 1);
          return true;
        }
        known += std::strlen(known) + 1;
      }
      if (std::strcmp(key, "sources") == 0) return names(nullptr, nullptr);
      if (std::strcmp(key, "elements") == 0) return number(&rule->elements);
      if (std::strcmp(key, "sizes") == 0) return sizes(&rule->sizes);
      if (std::strcmp(key, "operations") == 0) return names(&rule->operations, operation_code);
      if (std::strcmp(key, "types") == 0) return names(&rule->types, tensor_code);
      if (std::strcmp(key, "after") == 0) return names(&rule->after, after_code);
      return need("another key");
    });
    const bool is_whole = rule->texts[DriverRule::kDevice] != 0 && rule->texts[DriverRule::kReason] != 0;
    return is_read && (is_whole || need("device and reason"));
  }

  JsonText json_;
  std::string& texts_;
  std::string value_;
  uint64_t version_ = 0;
  const char* needed_ = "JSON of driver rules";
};

bool contains(const uint32_t* numbers, size_t count, uint32_t number) {
  while (count > 0) {
    if (numbers[--count] == number) return true;
  }
  return false;
}

bool is_result_of(const SubgraphView& model, uint32_t operand, const CodeSet& codes) {
  const std::vector<uint32_t>& inputs = model.input_operands;
  if (codes.has(DriverRule::kInput) && contains(inputs.data(), inputs.size(), operand)) return true;
  for (const OperationView& each : model.operations) {
    if (codes.has(each.code) && contains(each.outputs, each.output_count, operand)) return true;
  }
  return false;
}

}  // namespace

bool DriverRule::holds(const SubgraphView& model, const OperationView& operation) const {
  if (!operations.is_empty() && !operations.has(operation.code)) return false;
  bool has_type = types.is_empty(), has_elements = elements == 0, has_after = after.is_empty();
  bool has_sizes = sizes.empty();
  for (uint32_t i = 0; i < operation.input_count + operation.output_count; ++i) {
    const bool is_input = i < operation.input_count;
    const uint32_t number = is_input ? operation.inputs[i] : operation.outputs[i - operation.input_count];
    const OperandView& operand = model.operands[number];
    uint64_t element_count = 1;  // an unknown size counts as 0
    for (uint32_t axis = 0; axis < operand.rank; ++axis) element_count *= operand.dims[axis];
    has_type = has_type || types.has(operand.type);
    has_elements = has_elements || element_count >= elements;
    for (const std::vector<uint32_t>& list : sizes) {
      has_sizes = has_sizes || std::equal(operand.dims, operand.dims + operand.rank, list.begin(), list.end());
    }
    has_after = has_after || (is_input && is_result_of(model, number, after));
  }
  return has_type && has_elements && has_sizes && has_after;
}

const DriverRules& DriverRules::shipped() {
  static const DriverRules rules = [] {
    DriverRules read;
    read.read("", kShipped, sizeof kShipped - 1, nullptr);
    return read;
  }();
  return rules;
}

int DriverRules::read(const char* what, const char* text, size_t bytes, nnapi_shim_error* error) {
  rules_.clear();
  texts_.assign(1, '\0');
  RuleReader reader(text, bytes, &texts_);
  if (bytes <= kMostBytes && reader.read(&rules_)) return NNAPI_SHIM_OK;
  rules_.clear();
  if (bytes > kMostBytes) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.200s: more than %zu bytes found, the most that rules may have", what,
                kMostBytes);
  }
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.200s: before byte %zu: %s needed", what, reader.offset(),
              reader.needed());
}

bool DriverRules::is_of_driver(const DriverRule& rule, const char* name, const char* version) const {
  const char* const driver = text(rule, DriverRule::kDriver);
  const char* const from = text(rule, DriverRule::kFrom);
  const char* const before = text(rule, DriverRule::kBefore);
  return fits_pattern(name, text(rule, DriverRule::kDevice)) && (!*driver || fits_pattern(version, driver)) &&
         (!*from || compare_versions(version, from) >= 0) && (!*before || compare_versions(version, before) < 0);
}

const char* DriverRules::find(const char* name, const char* version, const ModelView* model) const {
  for (const DriverRule& rule : rules_) {
    if (!is_of_driver(rule, name, version)) continue;
    if (rule.is_of_whole_device()) return text(rule, DriverRule::kReason);
    if (!model) continue;
    for (const SubgraphView& each : model->models) {
      for (const OperationView& operation : each.operations) {
        if (rule.holds(each, operation)) return text(rule, DriverRule::kReason);
      }
    }
  }
  return nullptr;
}

bool DriverRules::is_about(const char* name, const char* version, const SubgraphView& model,
                           const OperationView& operation) const {
  for (const DriverRule& rule : rules_) {
    if (is_of_driver(rule, name, version) && rule.holds(model, operation)) return true;
  }
  return false;
}

}  // namespace nnapi_shim
