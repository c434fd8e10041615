// SPDX-License-Identifier: BSD-3-Clause
// Judges operations of a Model by a device's profile (lib/format/device_profile.h), so that a model uses only
// operations that the device accepts. Operations that the device's driver is known to compute wrongly
// (schemas/driver_rules.json) count as refused, too.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/format/device_profile.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// See JudgedOperation (lib/format/device_profile.h).
std::optional<PaddingStyle> padding_style(const Model& model, const Operation& operation);
bool runs_in_nchw(const Model& model, const Operation& operation);

// Operations that a driver is known to compute wrongly (schemas/driver_rules.schema.json).
struct DriverRule {
  DeviceRule operation;
  std::optional<int64_t> elements;  // the rule holds if one operand has at least so many elements
};

// An operation that the device refuses, and why.
struct DeviceRefusal {
  OperationCode code;
  std::string source;  // the model's source line; may be empty
  std::string reason;
  // Names of the graph's values that the operation makes; if passes dropped a name, those of the next values made from
  // it.
  std::vector<std::string> values = {};
};

class DeviceProfile {
 public:
  // Throws ConvertError (kBadFile) for a file that can't be read or is not a valid profile.
  static DeviceProfile read(const std::string& path);
  // Parses a profile's text like read(); errors call the text `what`.
  static DeviceProfile parse(const std::string& text, const std::string& what);

  const std::string& name() const { return rules_.name; }
  int feature_level() const { return rules_.feature_level; }
  // Returns false if the device refuses this operation with all arguments, so that the converter needs another form.
  bool may_take(OperationCode code) const;
  // Returns why the device refuses the operation; empty if it accepts the operation.
  std::string refusal(const Model& model, const Operation& operation) const;
  // Returns all operations of the model and its subgraphs that the device refuses.
  std::vector<DeviceRefusal> refusals(const Model& model) const;
  // Returns the operations that the device refuses in integers as well as in floats. The model is one of floats, and
  // `rules` say which of its operations could compute with integers.
  std::vector<DeviceRefusal> refusals_in_any_form(const Model& model, const IntegerRules& rules) const;

 private:
  DeviceRules rules_;
  std::vector<DriverRule> faults_;  // come before the profile's own rules
};

}  // namespace nnapi_convert::nnapi
