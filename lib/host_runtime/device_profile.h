// What a device takes and refuses, as a file says (schemas/device_profile.schema.json): of a real device that was
// asked, or one to test against. A rule matches an operation if all its conditions hold; an operation is refused if a
// rule of `refuses` matches it, or if there are rules of `accepts` and none does.
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
  // Conditions of one rule; empty ones always hold. Arguments are named as in schemas/nnapi_operations.json, and "*"
  // is any of them.
  struct Rule {
    std::vector<OperationCode> operations;
    std::map<std::string, std::vector<OperandCode>> types;     // one of these
    std::map<std::string, std::pair<int64_t, int64_t>> ranks;  // from, to
    std::map<std::string, bool> constants;                     // is constant, or is not
    std::vector<PaddingKind> paddings;                         // one of these
    std::vector<bool> nchw;                                    // one of these
    std::optional<std::pair<int64_t, int64_t>> strides;        // from, to
    std::string reason;
  };

  // Fails with a sentence where the file is missing or says something else than a profile.
  static DeviceProfile read(const std::string& path);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  int32_t type() const { return type_; }
  int feature_level() const { return feature_level_; }
  // Empty, or why it does not take the operation of a finished model.
  std::string refusal(const Model& model, const Operation& operation) const;

 private:
  std::string name_, version_;
  int32_t type_ = 0;
  int feature_level_ = 0;
  std::optional<std::vector<Rule>> accepts_;
  std::vector<Rule> refuses_;
};

}  // namespace nnapi_convert::host
