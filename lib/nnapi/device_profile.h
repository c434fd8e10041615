// Reads which operations the NNAPI driver of one device accepts and refuses, from a file
// (schemas/device_profile.schema.json), so that a model uses only accepted operations. The rules apply to operations as
// the driver gets them, after the layout was chosen. What the device's driver is known to do wrong
// (schemas/driver_rules.json) counts as refused, too.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// How an image is padded. Explicit padding that equals the padding of a scheme counts as that scheme.
enum class PaddingStyle { kSame, kValid, kExplicit };

// Returns the style of a convolution or pool; nothing for other operations. If sizes are not fixed, explicit padding
// other than none counts as explicit. TRANSPOSE_CONV_2D with explicit padding is never SAME.
std::optional<PaddingStyle> padding_style(const Model& model, const Operation& operation);

// Returns true if the operation has an argument for the layout and the argument is NCHW.
bool runs_in_nchw(const Model& model, const Operation& operation);

// Conditions on an operation. All have to hold; an empty condition always holds. Argument names are those of
// schemas/nnapi_operations.json; "*" stands for any argument.
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
  // Of driver rules: the least number of elements of one operand, and what an input is the result of.
  std::optional<int64_t> elements;
  std::set<OperationCode> after;
  bool is_after_input = false;  // an input of the model counts, too
  std::string reason;

  // Returns true if the rule has no condition except `operations`.
  bool is_unconditional() const;
};

// An operation that the device refuses, and why.
struct DeviceRefusal {
  OperationCode code;
  std::string source;  // the model's source line; may be empty
  std::string reason;
};

class DeviceProfile {
 public:
  // Throws ConvertError (kBadFile) for a file that can't be read or is not a valid profile.
  static DeviceProfile read(const std::string& path);

  const std::string& name() const { return name_; }
  int feature_level() const { return feature_level_; }
  // Returns false if the device refuses this operation with all arguments, so that the converter needs another form.
  bool may_take(OperationCode code) const;
  // Returns why the device refuses the operation; empty if it accepts the operation.
  std::string refusal(const Model& model, const Operation& operation) const;
  // Returns all operations of the model and its subgraphs that the device refuses.
  std::vector<DeviceRefusal> refusals(const Model& model) const;

 private:
  friend class ProfileReader;
  std::string name_;
  int feature_level_ = 0;
  std::optional<std::vector<DeviceRule>> accepts_;
  std::vector<DeviceRule> refuses_;
};

}  // namespace nnapi_convert::nnapi
