// SPDX-License-Identifier: BSD-3-Clause
// Makes one module of several conversions of the same original for the shim: a package (docs/shim.md).
#pragma once

#include <string>
#include <vector>

#include "lib/converter/emit/conversion.h"
#include "lib/converter/load/load.h"

namespace nnapi_convert {

struct PackageMember {
  std::string name;
  Conversion conversion;  // for the shim, without a CPU model
  LoadedModel original;   // as it was converted; may be released if the package gets no CPU model
};

// Makes a package of the members, in the order in which the shim prefers them. The package has one CPU model, by
// `fallback`. Throws ConvertError (kNotConvertible) for members that can't be one package (package_boundaries.h).
Conversion make_package(std::vector<PackageMember> members, Fallback fallback);

}  // namespace nnapi_convert
