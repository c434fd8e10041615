// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/tolerance.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <cmath>

#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/graph/node_reads.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

// True for the GELU that NNAPI computes by a formula. The one by tanh is a formula itself.
bool is_exact_gelu(const torch::jit::Node& node) {
  if (node.kind() != c10::aten::gelu) return false;
  const auto approximate = torch::jit::constant_as<std::string>(node.namedInput("approximate"));
  return !approximate || *approximate == "none";
}

size_t count_nodes(const LoadedModel& model, bool (*is_counted)(const torch::jit::Node&)) {
  const auto graph = model.module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  size_t count = 0;
  for_each_node(*graph, [&](const torch::jit::Node& node) {
    if (is_counted(node)) ++count;
  });
  return count;
}

double single_tolerance(const ConvertedFile& converted, const LoadedModel& original) {
  using Defaults = VerifyDefaults;
  if (is_approximate(converted)) return Defaults::kApproximateTolerance;
  return std::max(Defaults::kFloatTolerance,
                  Defaults::kGeluTolerance * std::sqrt(static_cast<double>(count_nodes(original, is_exact_gelu))));
}

}  // namespace

double default_tolerance(const VerifyRequest& request, const ConvertedFile& converted, const LoadedModel& original) {
  using Defaults = VerifyDefaults;
  const double single = single_tolerance(converted, original);
  if (!request.fp16) return single;
  size_t operations = 0;
  for (const BufferModel& buffer : converted.buffers) operations += buffer.operations.size();
  const double half = Defaults::kHalfTolerance * std::sqrt(static_cast<double>(operations));
  return std::max({single, half, Defaults::kFewestHalf});
}

bool rounds_to_levels(const LoadedModel& original) {
  return count_nodes(original,
                     [](const torch::jit::Node& node) { return find_traits(node).has(Fact::kRoundsToLevels); }) > 0;
}

}  // namespace nnapi_convert
