// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/delegates.h"

#include <algorithm>

#include "lib/litert/names.h"

namespace nnapi_convert::litert {
namespace {

// Operators that are absent from ml_drift's list in google-ai-edge/LiteRT.
constexpr Builtin kNotOnGpu[] = {
    Builtin::ARG_MIN,     Builtin::BATCH_TO_SPACE_ND, Builtin::FILL,
    Builtin::IF,          Builtin::L2_NORMALIZATION,  Builtin::LOCAL_RESPONSE_NORMALIZATION,
    Builtin::LOG_SOFTMAX, Builtin::SPACE_TO_BATCH_ND, Builtin::WHILE,
};

constexpr size_t kGpuRank = 4;

bool is_on_gpu(const Subgraph& subgraph, const Operator& each) {
  if (std::find(std::begin(kNotOnGpu), std::end(kNotOnGpu), each.code) != std::end(kNotOnGpu)) return false;
  const auto fits = [&](int32_t id) {
    if (id < 0) return true;
    const Tensor& tensor = subgraph.tensors[static_cast<size_t>(id)];
    return tensor.signature.empty() && tensor.shape.size() <= kGpuRank;
  };
  return std::all_of(each.inputs.begin(), each.inputs.end(), fits) &&
         std::all_of(each.outputs.begin(), each.outputs.end(), fits);
}

}  // namespace

OperatorCounts operator_counts(const File& file) {
  OperatorCounts counts;
  for (const Subgraph& subgraph : file.subgraphs) {
    for (const Operator& each : subgraph.operators) ++counts[name_of(each.code)];
  }
  return counts;
}

OperatorCounts lacking_on_gpu(const File& file) {
  OperatorCounts counts;
  for (const Subgraph& subgraph : file.subgraphs) {
    for (const Operator& each : subgraph.operators) {
      if (!is_on_gpu(subgraph, each)) ++counts[name_of(each.code)];
    }
  }
  return counts;
}

}  // namespace nnapi_convert::litert
