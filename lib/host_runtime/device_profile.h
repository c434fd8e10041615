// Reads which operations a device accepts and refuses from a file (schemas/device_profile.schema.json). The file
// describes a real device that was probed, or an invented one for tests. A rule matches an operation if all its
// conditions hold. A device refuses an operation if a rule of `refuses` matches it, or if the profile has `accepts` and
// no rule of it matches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {

enum class PaddingKind { kSame, kValid, kExplicit };

class DeviceProfile {
 public:
  // The conditions of one rule; an empty condition always holds. Argument names are those of
  // schemas/nnapi_operations.json; "*" stands for any argument.
  struct Rule {
    std::vector<OperationCode> operations;
    std::map<std::string, std::vector<OperandCode>> types;     // the argument has one of these types
    std::map<std::string, std::pair<int64_t, int64_t>> ranks;  // from, to
    std::map<std::string, bool> constants;                     // the argument is constant, or is not
    std::vector<PaddingKind> paddings;                         // the operation has one of these
    std::vector<bool> nchw;                                    // the operation has one of these
    std::optional<std::pair<int64_t, int64_t>> strides;        // from, to
    std::string reason;
  };

  // Fails with a sentence if the file is missing or is not a valid profile.
  static DeviceProfile read(const std::string& path);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  int32_t type() const { return type_; }
  int feature_level() const { return feature_level_; }
  // Returns why the device does not support an operation of a finished model; empty if it does.
  std::string refusal(const Model& model, const Operation& operation) const;

 private:
  std::string name_, version_;
  int32_t type_ = 0;
  int feature_level_ = 0;
  std::optional<std::vector<Rule>> accepts_;
  std::vector<Rule> refuses_;
};

}  // namespace nnapi_convert::host
