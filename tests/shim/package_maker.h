// SPDX-License-Identifier: BSD-3-Clause
// Writes packages (lib/format/package_format.h) for tests. The writer shares no code with the converter's and checks
// nothing.
#pragma once

#include <string>
#include <vector>

#include "tests/shim/buffer_maker.h"

namespace nnapi_shim::testing {

struct PackagedNet {
  std::string name;
  Description net;
};

// The weights of each net begin on a page of their own; `words` are the package.
MadeBuffer make_package(const std::vector<PackagedNet>& nets);

}  // namespace nnapi_shim::testing
