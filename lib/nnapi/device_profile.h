// What the NNAPI driver of one device takes and refuses, as a file says (schemas/device_profile.schema.json): the model
// is kept to what it takes. Operations are looked at as they are sent, after the layout was chosen.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::nnapi {

// How an image is padded. Explicit padding that equals what a scheme gives counts as that scheme.
enum class PaddingStyle { kSame, kValid, kExplicit };

// The style of a convolution or pool; nothing for other operations. Sizes that aren't fixed make explicit padding out
// of all but none. TRANSPOSE_CONV_2D with explicit padding is never SAME.
std::optional<PaddingStyle> padding_style(const Model& model, const Operation& operation);

// True if the operation has an argument for the layout and says NCHW in it.
bool runs_in_nchw(const Model& model, const Operation& operation);

// Conditions on an operation, all of which have to hold; those that are empty always do. Arguments go by their names in
// schemas/nnapi_operations.json, "*" is any.
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
  std::string reason;

  // True if it says nothing but which operations.
  bool is_unconditional() const;
};

// An operation that the device doesn't take.
struct DeviceRefusal {
  OperationCode code;
  std::string source;  // the model's source line; may be empty
  std::string reason;
};

class DeviceProfile {
 public:
  // Throws ConvertError (kBadFile) for a file that can't be read or says something else than a profile.
  static DeviceProfile read(const std::string& path);

  const std::string& name() const { return name_; }
  int feature_level() const { return feature_level_; }
  // False if it takes no operation of this kind, whatever the arguments: another form has to do.
  bool may_take(OperationCode code) const;
  // Empty, or why the device does not take the operation.
  std::string refusal(const Model& model, const Operation& operation) const;
  // All operations of the model and its subgraphs that it doesn't take.
  std::vector<DeviceRefusal> refusals(const Model& model) const;

 private:
  friend class ProfileReader;
  std::string name_;
  int feature_level_ = 0;
  std::optional<std::vector<DeviceRule>> accepts_;
  std::vector<DeviceRule> refuses_;
};

}  // namespace nnapi_convert::nnapi
