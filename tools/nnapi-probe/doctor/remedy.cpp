// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-probe/doctor/remedy.h"

#include <algorithm>
#include <map>

#include "lib/format/nnapi_codes.h"
#include "lib/format/operation_table.h"
#include "tools/nnapi-probe/doctor/json_text.h"

namespace nnapi_doctor {
namespace {

// One operation of the file with the facts and findings about it.
struct Point {
  std::vector<Condition> types, forms;
  std::string predecessors;
  const OperationReport* report = nullptr;
  bool is_right = false;  // right alone, or together with all others
};

bool has(const std::vector<Condition>& conditions, const Condition& condition) {
  return std::find(conditions.begin(), conditions.end(), condition) != conditions.end();
}

bool has_all(const std::vector<Condition>& conditions, const std::vector<Condition>& needed) {
  return std::all_of(needed.begin(), needed.end(), [&](const Condition& each) { return has(conditions, each); });
}

// Returns whether one of `after` is among `predecessors`, which are JSON lists of names; also if `after` is empty.
bool follows(const std::string& predecessors, const std::string& after) {
  if (after.empty()) return true;
  size_t at = 1;
  while (at + 1 < after.size()) {
    const size_t end = std::min(after.find(", ", at), after.size() - 1);
    const std::string name = after.substr(at, end - at);
    if (predecessors.find(name) != std::string::npos) return true;
    at = end + 2;
  }
  return false;
}

bool holds(const Remedy& remedy, const Point& point) {
  return has_all(point.types, remedy.types) && has_all(point.forms, remedy.forms) &&
         follows(point.predecessors, remedy.after);
}

int bit_count(uint32_t choice) {
  int count = 0;
  for (; choice != 0; choice &= choice - 1) ++count;
  return count;
}

// Adds the fewest of the point's forms with which the remedy holds for none of the others; of several choices, takes
// the one that holds for most of the points `alike`.
void narrow(Remedy* remedy, const Point& point, const std::vector<const Point*>& others,
            const std::vector<const Point*>& alike) {
  constexpr size_t kMostForms = 12;
  const size_t count = std::min(point.forms.size(), kMostForms);
  std::vector<uint32_t> choices(size_t{1} << count);
  for (uint32_t i = 0; i < choices.size(); ++i) choices[i] = i;
  std::stable_sort(choices.begin(), choices.end(), [](uint32_t a, uint32_t b) { return bit_count(a) < bit_count(b); });
  const auto forms_of = [&](uint32_t choice) {
    std::vector<Condition> forms;
    for (size_t i = 0; i < count; ++i) {
      if ((choice >> i & 1) != 0) forms.push_back(point.forms[i]);
    }
    return forms;
  };
  const auto counts = [remedy](const std::vector<const Point*>& points) {
    return std::count_if(points.begin(), points.end(), [&](const Point* each) { return holds(*remedy, *each); });
  };
  std::ptrdiff_t most = -1;
  uint32_t best = choices.back();
  for (const uint32_t choice : choices) {
    if (most >= 0 && bit_count(choice) > bit_count(best)) break;
    remedy->forms = forms_of(choice);
    if (counts(others) > 0 || counts(alike) <= most) continue;
    most = counts(alike);
    best = choice;
  }
  remedy->forms = forms_of(best);
}

std::string channels_text(const Comparison& worst) {
  if (worst.channels < 2 || worst.wrong_channels == 0 || worst.wrong_channels == worst.channels) return "";
  return ", " + std::to_string(worst.wrong_channels) + " of " + std::to_string(worst.channels) + " channels";
}

std::string reason_of(const TrialResult& result) {
  const Comparison& worst = result.worst;
  std::string text = "the doctor found it " + std::string(name_of(result.finding));
  if (result.finding == Finding::kCrash) text = "the doctor saw it crash";
  if (result.finding == Finding::kHang) text = "the doctor saw it hang";
  if (result.finding == Finding::kError) text = "the doctor got error code " + std::to_string(result.nnapi_code);
  if (result.finding != Finding::kWrong) return text;
  if (worst.not_a_number > 0) {
    text += ": " + std::to_string(worst.not_a_number) + " elements are no numbers";
  } else if (worst.is_quantised) {
    text += " by " + number_text(worst.worst) + " quanta" + channels_text(worst);
  } else {
    const double share = worst.range > 0 ? worst.worst / worst.range : 0;
    text += " by " + number_text(share) + " of the range" + channels_text(worst);
  }
  return text + runs_text(result);
}

// Returns the sizes in the condition: "[[1, 2]]" gives "[1, 2]".
std::string inner(const std::string& list) {
  return list.size() > 2 ? list.substr(1, list.size() - 2) : list;
}

// Returns whether one of the point's operands has these sizes.
bool has_sizes(const Point& point, const std::string& value) {
  return std::any_of(point.forms.begin(), point.forms.end(),
                     [&](const Condition& each) { return each.key == "sizes" && each.value == value; });
}

// Returns the sizes of an operand that no operand of the others has; those of the first operand if there are none.
std::string telling_sizes(const Point& point, const std::vector<const Point*>& others) {
  std::string first;
  for (const Condition& condition : point.forms) {
    if (condition.key != "sizes") continue;
    if (first.empty()) first = condition.value;
    const bool is_telling = std::none_of(others.begin(), others.end(),
                                         [&](const Point* other) { return has_sizes(*other, condition.value); });
    if (is_telling) return inner(condition.value);
  }
  return inner(first);
}

bool is_same(const Remedy& a, const Remedy& b) {
  return a.operation == b.operation && a.types == b.types && a.forms == b.forms && a.after == b.after &&
         a.is_fault == b.is_fault;
}

void add(std::vector<Remedy>* remedies, Remedy remedy) {
  for (Remedy& known : *remedies) {
    if (!is_same(known, remedy)) continue;
    for (std::string& sizes : remedy.sizes) {
      if (std::find(known.sizes.begin(), known.sizes.end(), sizes) == known.sizes.end()) {
        known.sizes.push_back(std::move(sizes));
      }
    }
    return;
  }
  remedies->push_back(std::move(remedy));
}

void add_remedies(const std::string& name, const std::vector<Point>& points, std::vector<Remedy>* remedies) {
  std::vector<const Point*> right, taken, faulty, untaken;
  for (const Point& point : points) {
    if (point.is_right) right.push_back(&point);
    (point.report->is_taken ? taken : untaken).push_back(&point);
    if (point.report->is_taken && point.report->is_faulty()) faulty.push_back(&point);
  }
  for (const Point& point : points) {
    const OperationReport& report = *point.report;
    Remedy remedy;
    remedy.operation = name;
    remedy.types = point.types;
    if (!report.is_taken) {
      narrow(&remedy, point, taken, untaken);
      remedy.reason = "the driver does not take it";
      add(remedies, std::move(remedy));
      continue;
    }
    if (!report.is_faulty()) continue;
    remedy.is_fault = true;
    const bool is_alone = is_fault(report.alone.finding);
    remedy.reason = reason_of(is_alone ? report.alone : report.in_place);
    if (!is_alone) remedy.after = report.after.empty() ? point.predecessors : report.after;
    if (remedy.after == "[]") remedy.after.clear();
    narrow(&remedy, point, right, faulty);
    if (!remedy.forms.empty()) remedy.sizes.push_back(telling_sizes(point, right));
    add(remedies, std::move(remedy));
  }
}

// Adds the members of a rule for conditions: those of arguments are in one object for each key.
void add_conditions(const std::vector<Condition>& conditions, JsonObject* rule) {
  std::vector<std::string> keys;
  for (const Condition& each : conditions) {
    if (std::find(keys.begin(), keys.end(), each.key) == keys.end()) keys.push_back(each.key);
  }
  for (const std::string& key : keys) {
    JsonObject by_argument;
    for (const Condition& each : conditions) {
      if (each.key != key) continue;
      if (each.argument.empty()) {
        rule->add(key.c_str(), each.value);
      } else {
        by_argument.add(each.argument.c_str(), each.value);
      }
    }
    if (by_argument.close() != "{}") rule->add(key.c_str(), by_argument.close());
  }
}

const char* type_name(int32_t type) {
  static const char* const kTypes[] = {"other", "other", "cpu", "gpu", "accelerator"};
  return type >= 0 && type < 5 ? kTypes[type] : "other";
}

// Returns the highest feature level that a conversion by this profile may use: that of the examined file, or the
// default of conversions. The device's own level, if higher, would bring operations that nobody has examined.
uint32_t examined_level(const Patient& patient, const DeviceReport& device) {
  uint32_t level = 3;
  for (const Part& part : patient.parts) level = std::max(level, part.views[0].feature_level);
  return std::min(level, std::min<uint32_t>(std::max<uint32_t>(device.feature_level, 1), 8));
}

std::string lines_of(const std::vector<std::string>& items, const std::string& indent) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "\n" : ",\n") + indent + item;
  return text;
}

}  // namespace

std::vector<Remedy> find_remedies(const Patient& patient, const DeviceReport& device) {
  std::map<int32_t, std::vector<Point>> points;  // by operation code
  for (size_t number = 0; number < device.parts.size(); ++number) {
    const PartReport& found = device.parts[number];
    const Part& part = patient.parts[number];
    const OperationFacts facts(part.main(), *part.cutter);
    for (uint32_t i = 0; i < found.operations.size(); ++i) {
      const OperationReport& operation = found.operations[i];
      Point point;
      point.types = facts.types(i);
      point.forms = facts.forms(i);
      point.predecessors = facts.predecessors(i);
      point.report = &operation;
      const bool is_right_alone =
          operation.alone.finding == Finding::kRight || operation.alone.finding == Finding::kHalf;
      point.is_right = operation.is_taken && !operation.is_faulty() && (found.is_right() || is_right_alone);
      points[part.main().operations[i].code].push_back(std::move(point));
    }
  }
  std::vector<Remedy> remedies;
  for (const auto& [code, all] : points) {
    add_remedies(nnapi_convert::name_of(static_cast<nnapi_convert::OperationCode>(code)), all, &remedies);
  }
  return remedies;
}

std::string profile_json(const Patient& patient, const DeviceReport& device, const std::vector<Remedy>& remedies) {
  std::vector<std::string> rules;
  for (const Remedy& remedy : remedies) {
    JsonObject rule;
    rule.add("operations", "[" + quoted(remedy.operation) + "]");
    std::vector<Condition> conditions = remedy.types;
    conditions.insert(conditions.end(), remedy.forms.begin(), remedy.forms.end());
    add_conditions(conditions, &rule);
    if (!remedy.after.empty()) rule.add("after", remedy.after);
    rules.push_back(rule.text("reason", remedy.reason).close());
  }
  JsonObject about;
  about.text("name", device.name.empty() ? "NNAPI's choice" : device.name)
      .text("version", device.version)
      .text("type", type_name(device.type))
      .add("feature_level", std::to_string(examined_level(patient, device)));
  return "{\n  \"version\": 1,\n  \"device\": " + about.close() + ",\n  \"refuses\": [" + lines_of(rules, "    ") +
         (rules.empty() ? "" : "\n  ") + "]\n}\n";
}

std::vector<std::string> driver_rules(const DeviceReport& device, const std::vector<Remedy>& remedies) {
  std::vector<std::string> rules;
  for (const Remedy& remedy : remedies) {
    if (!remedy.is_fault) continue;
    JsonObject rule;
    rule.text("device", device.name.empty() ? "*" : device.name);
    if (!device.version.empty()) rule.text("driver", device.version);
    rule.add("operations", "[" + quoted(remedy.operation) + "]");
    if (!remedy.types.empty()) rule.add("types", remedy.types.front().value);
    if (!remedy.sizes.empty()) rule.add("sizes", "[" + joined(remedy.sizes) + "]");
    if (!remedy.after.empty()) rule.add("after", remedy.after);
    rules.push_back(rule.text("reason", remedy.reason).close());
  }
  return rules;
}

std::string driver_rules_json(const std::vector<std::string>& rules) {
  return "{\n  \"version\": 1,\n  \"rules\": [" + lines_of(rules, "    ") + (rules.empty() ? "" : "\n  ") + "]\n}\n";
}

}  // namespace nnapi_doctor
