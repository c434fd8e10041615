#include "lib/converter/graph/node_reads.h"

#include <algorithm>
#include <set>
#include <string>

namespace nnapi_convert {

bool reads_values(const torch::jit::Node& node) {
  static const std::set<std::string> kinds = {"aten::item",
                                              "aten::_local_scalar_dense",
                                              "aten::is_nonzero",
                                              "aten::equal",
                                              "aten::allclose",
                                              "aten::Bool",
                                              "aten::Int",
                                              "aten::Float",
                                              "aten::Complex",
                                              "aten::IntImplicit",
                                              "aten::FloatImplicit",
                                              "aten::ComplexImplicit",
                                              "aten::ScalarImplicit",
                                              "prim::tolist"};
  const auto inputs = node.inputs();
  return kinds.count(node.kind().toQualString()) != 0 &&
         std::any_of(inputs.begin(), inputs.end(),
                     [](const torch::jit::Value* input) { return input->type()->kind() == c10::TypeKind::TensorType; });
}

}  // namespace nnapi_convert
