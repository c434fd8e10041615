// SPDX-License-Identifier: BSD-3-Clause
// Types of arguments and results, parsed from TorchScript's annotations: "List[Tuple[Tensor, int]]".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nnapi_shim::program {

struct Type {
  enum class Kind : uint8_t {
    kTensor,
    kInt,
    kFloat,
    kBool,
    kNumber,  // an int, a float or a bool
    kString,
    kDevice,
    kNone,
    kOptional,  // of parts[0]
    kList,      // of parts[0]
    kTuple,     // of its parts, that have names in a NamedTuple
    kDict,      // from parts[0] to parts[1]
  };
  Kind kind = Kind::kNone;
  std::vector<Type> parts;
  std::vector<std::string> names;  // the names of a NamedTuple's parts; else empty

  bool is_optional() const { return kind == Kind::kOptional || kind == Kind::kNone; }
};

// Returns false for a text that is no type, or one that is nested deeper than kMostDepth.
bool parse_type(const char* text, Type* type);

}  // namespace nnapi_shim::program
