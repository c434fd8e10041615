// SPDX-License-Identifier: BSD-3-Clause
// Reads which operations a device's NNAPI driver accepts and refuses (schemas/device_profile.schema.json), and judges
// operations by it. The file describes a real device that was probed, or an invented one for tests. The converter and
// the host's NNAPI both use it: each names an operation's operands by its own reading of its own model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"

namespace nnapi_convert {

struct JsonValue;

// How an image is padded. Explicit padding that equals the padding of a scheme counts as that scheme.
enum class PaddingStyle { kSame, kValid, kExplicit };

constexpr int64_t kUnknownSize = -1;

// An operand of an operation as rules see it.
struct JudgedOperand {
  const char* argument;  // its name in schemas/nnapi_operations.json
  OperandCode type;
  bool is_constant;
  std::optional<std::vector<int64_t>> sizes;  // of a tensor whose rank is known; kUnknownSize where one is not
  std::optional<int64_t> number;              // of a constant INT32 or BOOL
};

// An operation as it gets to the driver: after the layout was chosen.
struct JudgedOperation {
  OperationCode code;
  std::vector<JudgedOperand> operands;  // the inputs, then the outputs
  std::set<OperationCode> after = {};   // the operations whose results it reads
  bool reads_input = false;             // it reads an input of the model

  // Returns the first operand of the argument; null if there is none.
  const JudgedOperand* find(const std::string& argument) const;
  std::optional<int64_t> number(const std::string& argument) const;

  // Returns true if the operation has an argument for the layout and the argument is NCHW.
  bool is_nchw() const { return number("layout").value_or(0) != 0; }
  // Returns the style of a convolution or pool; nothing for other operations. If sizes are not known, explicit padding
  // other than none counts as explicit. TRANSPOSE_CONV_2D with explicit padding is never SAME.
  std::optional<PaddingStyle> padding_style() const;
};

// Conditions on an operation. All have to hold; an empty condition always holds. "*" stands for any argument.
struct DeviceRule {
  struct Range {
    int64_t least = 0, greatest = 0;
    bool holds(int64_t number) const { return number >= least && number <= greatest; }
  };
  std::set<OperationCode> operations;
  std::map<std::string, std::set<OperandCode>> types;
  std::map<std::string, Range> ranks;
  std::map<std::string, bool> constants;
  std::set<PaddingStyle> paddings;
  std::set<bool> nchw;
  std::optional<Range> strides;
  std::map<std::string, std::set<std::vector<int64_t>>> sizes;  // of a tensor; kAnySize stands for any
  std::set<OperationCode> after;                                // an input is the result of one of these
  bool is_after_input = false;                                  // or an input of the model
  std::string reason;

  static constexpr int64_t kAnySize = 0;

  bool holds(const JudgedOperation& operation) const;
  // Returns true if the rule has no condition except `operations`.
  bool is_unconditional() const;
  // Returns true if the rule needs `after` and `reads_input` of operations.
  bool asks_predecessors() const { return !after.empty() || is_after_input; }
};

struct DeviceRules {
  std::string name, version;
  int32_t type = 0;  // ANEURALNETWORKS_DEVICE_*
  int feature_level = 0;
  std::optional<std::vector<DeviceRule>> accepts;
  std::vector<DeviceRule> refuses;

  // Reads the text of a profile. Throws JsonError, whose sentence begins with `what`.
  static DeviceRules parse(const std::string& text, const std::string& what);

  // Returns true if a rule needs `after` and `reads_input` of operations; others leave them empty.
  bool asks_predecessors() const;
  // Returns why no rule lets the device take the operation, whatever its feature level; empty if it takes it.
  std::string refusal(const JudgedOperation& operation) const;
};

// Reads a list of names of operations: INPUT stands for an input of the model.
void read_predecessors(const JsonValue& names, std::set<OperationCode>& after, bool& is_after_input);

// Reads the sizes of a tensor, each `least` or more.
std::vector<int64_t> read_sizes(const JsonValue& list, int64_t least);

// Read one name of an operation or of an operand type.
OperationCode operation_of(const JsonValue& name);
OperandCode operand_type_of(const JsonValue& name);

}  // namespace nnapi_convert
