// SPDX-License-Identifier: BSD-3-Clause
// Tells which devices must not run a model, as their drivers are known to be wrong. The rules are JSON
// (schemas/driver_rules.schema.json): the library has some in itself, and an app may replace them.
//
// NNAPI itself spreads a model over the devices that it is compiled for, and asks only their drivers. A rule about an
// operation therefore keeps its device away from each model that has such an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// A set of NNAPI's codes of operations or types. Codes from kMost on are in no set.
struct CodeSet {
  static constexpr int32_t kMost = 128;
  uint64_t bits[2] = {0, 0};

  bool is_empty() const { return (bits[0] | bits[1]) == 0; }
  bool has(int32_t code) const { return code >= 0 && code < kMost && (bits[code / 64] >> (code % 64) & 1) != 0; }
  void add(int32_t code) { bits[code / 64] |= uint64_t{1} << (code % 64); }
};

// A rule. Conditions that are empty always hold; the schema describes each.
struct DriverRule {
  enum Text { kDevice, kDriver, kFrom, kBefore, kReason, kTexts };

  uint32_t texts[kTexts] = {0, 0, 0, 0, 0};  // the beginnings of texts in DriverRules::texts_; 0: an empty text
  CodeSet operations, types, after;          // `after`: kInput stands for an input of the model
  uint64_t elements = 0;
  std::vector<std::vector<uint32_t>> sizes;  // an operand has one of these shapes

  static constexpr int32_t kInput = CodeSet::kMost - 1;
  bool is_of_whole_device() const {
    return operations.is_empty() && types.is_empty() && after.is_empty() && elements == 0 && sizes.empty();
  }
  bool holds(const SubgraphView& model, const OperationView& operation) const;
};

class DriverRules {
 public:
  static constexpr size_t kMostBytes = 1 << 16;  // of a text with rules

  // Returns the library's own rules.
  static const DriverRules& shipped();
  // Replaces the rules by those of the text. Returns NNAPI_SHIM_BAD_ARGUMENT, with no rules left, if the text is
  // damaged, has a key or a name that this version does not know, or is longer than kMostBytes. `what` begins the error
  // sentence.
  int read(const char* what, const char* text, size_t bytes, nnapi_shim_error* error);

  bool is_empty() const { return rules_.empty(); }
  // Returns why the device must not run the model (null: any model); null if it may.
  const char* find(const char* name, const char* version, const ModelView* model) const;
  // Returns whether a rule is about the operation on this device, or about the whole device.
  bool is_about(const char* name, const char* version, const SubgraphView& model, const OperationView& operation) const;

 private:
  bool is_of_driver(const DriverRule& rule, const char* name, const char* version) const;
  const char* text(const DriverRule& rule, DriverRule::Text which) const { return &texts_[rule.texts[which]]; }

  std::vector<DriverRule> rules_;
  std::string texts_;  // each text ends with U+0000; the first is empty
};

}  // namespace nnapi_shim
