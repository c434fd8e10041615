// Makes one module of several conversions of the same original for the shim: a package (docs/shim.md).
#pragma once

#include <string>
#include <vector>

#include "lib/converter/emit/conversion.h"

namespace nnapi_convert {

struct PackageMember {
  std::string name;
  Conversion conversion;  // for the shim, whole
};

// The members' order is the order in which the shim prefers them. Throws ConvertError: kNotConvertible if a member is
// not whole, or if members take or give other tensors than the first, besides their sizes and besides 8-bit integers in
// place of floats: callers pass floats where one member has them.
Conversion make_package(std::vector<PackageMember> members);

}  // namespace nnapi_convert
