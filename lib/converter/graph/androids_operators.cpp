// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/graph/androids_operators.h"

#include <sstream>
#include <string>
#include <unordered_set>

#include "lib/converter/graph/release.h"

namespace nnapi_convert {
namespace {

using Names = std::unordered_set<std::string>;

const Names& known_names() {
  static const Names names = [] {
    Names result;
    std::istringstream lines(operators_of_1_13().at(0).text);
    for (std::string line; std::getline(lines, line);) result.insert(line);
    return result;
  }();
  return names;
}

// True for an operator in a namespace of LibTorch's: those of other namespaces come with libraries that the user gives.
bool is_of_libtorch(const std::string& name) {
  static const Names namespaces = {"_quantized", "aten", "inductor", "mkl",       "mkldnn",   "onednn",
                                   "prepacked",  "prim", "prims",    "quantized", "rngprims", "sparse"};
  return namespaces.count(name.substr(0, name.find(':'))) != 0;
}

}  // namespace

bool is_androids_operator(const c10::OperatorName& name) {
  if (kIsAndroidsRelease || !is_of_libtorch(name.name)) return true;
  return known_names().count(name.overload_name.empty() ? name.name : name.name + "." + name.overload_name) != 0;
}

}  // namespace nnapi_convert
