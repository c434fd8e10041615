// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/optimise.h"

#include "lib/nnapi/passes/add_in_mean.h"
#include "lib/nnapi/passes/choose_layout.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/drop_tile.h"
#include "lib/nnapi/passes/fit_device.h"
#include "lib/nnapi/passes/flatten_rows.h"
#include "lib/nnapi/passes/fold_affine.h"
#include "lib/nnapi/passes/fold_centring.h"
#include "lib/nnapi/passes/fold_input_affine.h"
#include "lib/nnapi/passes/fold_padding.h"
#include "lib/nnapi/passes/fold_scale.h"
#include "lib/nnapi/passes/fuse_activation.h"
#include "lib/nnapi/passes/gather_rows.h"
#include "lib/nnapi/passes/group_products.h"
#include "lib/nnapi/passes/l2_normalise.h"
#include "lib/nnapi/passes/linear_as_convolution.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "lib/nnapi/passes/raise_rank.h"
#include "lib/nnapi/passes/reduce_rank.h"
#include "lib/nnapi/passes/reshape_as_floats.h"
#include "lib/nnapi/passes/separate_outputs.h"
#include "lib/nnapi/passes/shuffle_channels.h"
#include "lib/nnapi/passes/sink_moves.h"
#include "lib/nnapi/passes/split_after_moves.h"
#include "lib/nnapi/passes/split_slices.h"
#include "lib/nnapi/passes/split_untransposed.h"

namespace nnapi_convert::nnapi {
namespace {

struct Pass {
  const char* name;
  void (*run)(Model& model, const OptimiseOptions& options);
};

template <void (*pass)(Model&)>
void plain(Model& model, const OptimiseOptions&) {
  pass(model);
}

constexpr int kL2NormalizationLevel = 3;  // L2_NORMALIZATION of matrices, and along a named axis

const Pass kMergeMoves = {"merge_moves", plain<merge_moves>};

// The passes that run on PyTorch's order of axes.
const Pass kBeforeLayout[] = {
    {"drop_tile", plain<drop_tile>},
    {"reduce_rank", plain<reduce_rank>},
    {"group_products",
     [](Model& model, const OptimiseOptions& options) { group_products(model, options.feature_level); }},
    {"sink_moves", plain<sink_moves>},
    {"split_untransposed", plain<split_untransposed>},
    kMergeMoves,
    {"reshape_as_floats",
     [](Model& model, const OptimiseOptions& options) { reshape_as_floats(model, options.feature_level); }},
    {"split_slices", [](Model& model, const OptimiseOptions& options) { split_slices(model, options.feature_level); }},
    {"gather_rows", [](Model& model, const OptimiseOptions& options) { gather_rows(model, options.feature_level); }},
    {"fold_padding", plain<fold_padding>},
    {"fold_affine", plain<fold_affine>},
    {"fold_input_affine", plain<fold_input_affine>},
    {"fold_scale", plain<fold_scale>},
    {"fuse_activation", plain<fuse_activation>},
    {"shuffle_channels",
     [](Model& model, const OptimiseOptions& options) { shuffle_channels(model, options.feature_level); }},
    {"split_after_moves", plain<split_after_moves>},
    {"flatten_rows", plain<flatten_rows>},
    {"fold_centring", plain<fold_centring>},
    {"raise_rank", plain<raise_rank>},
};

// The passes that run when the layout is chosen.
const Pass kAfterLayout[] = {
    kMergeMoves,
    {"linear_as_convolution", plain<linear_as_convolution>},
    {"l2_normalise",
     [](Model& model, const OptimiseOptions& options) {
       if (options.feature_level >= kL2NormalizationLevel && !options.half_precision) l2_normalise(model);
     }},
    {"add_in_mean", plain<add_in_mean>},
};

// Runs the pass on the model and its subgraphs.
void run(const Pass& pass, Model& model, const OptimiseOptions& options) {
  if (options.disabled.count(pass.name) != 0) return;
  for (Model* each : with_subgraphs(model)) pass.run(*each, options);
  if (options.on_pass) options.on_pass(pass.name, model);
}

void optimise_once(Model& model, const OptimiseOptions& options) {
  for (Model* each : with_subgraphs(model)) separate_outputs(*each);
  for (const Pass& pass : kBeforeLayout) run(pass, model, options);
  choose_layout(model, options.nhwc);
  if (options.on_pass) options.on_pass("choose_layout", model);
  for (const Pass& pass : kAfterLayout) run(pass, model, options);
  const std::vector<Model*> models = with_subgraphs(model);
  // Subgraphs come first: compact may drop the operands that own them.
  for (auto each = models.rbegin(); each != models.rend(); ++each) {
    separate_outputs(**each);
    if (options.device != nullptr) fit_device(**each, *options.device, options.feature_level);
    compact(**each);
  }
}

// Passes that replace operations by others. A device may refuse the others although it accepts the replaced ones.
const std::set<std::string> kMakesOthers[] = {
    {"fold_padding"},
    {"shuffle_channels"},
    {"split_slices"},
    {"gather_rows"},
    {"group_products"},
    {"linear_as_convolution"},
    {"add_in_mean"},
    {"raise_rank"},
    {"l2_normalise"},
    {"fold_padding", "shuffle_channels", "split_slices", "gather_rows", "group_products", "linear_as_convolution",
     "add_in_mean", "raise_rank", "l2_normalise"}};

// Returns whether a copy of the model is independent: a copy shares subgraphs, and passes change them.
bool can_copy(const Model& model) {
  return with_subgraphs(model).size() == 1;
}

}  // namespace

void optimise(Model& model, const OptimiseOptions& options) {
  if (options.device == nullptr || !can_copy(model)) return optimise_once(model, options);
  const Model lowered = model;
  optimise_once(model, options);
  size_t refused = options.device->refusals(model).size();
  for (const std::set<std::string>& left_out : kMakesOthers) {
    if (refused == 0) return;
    OptimiseOptions variant = options;
    variant.on_pass = nullptr;
    variant.disabled.insert(left_out.begin(), left_out.end());
    Model other = lowered;
    optimise_once(other, variant);
    const size_t other_refused = options.device->refusals(other).size();
    if (other_refused >= refused) continue;
    refused = other_refused;
    model = std::move(other);
  }
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kBeforeLayout) names.emplace_back(pass.name);
  for (const Pass& pass : kAfterLayout) {
    if (pass.run != kMergeMoves.run) names.emplace_back(pass.name);
  }
  return names;
}

}  // namespace nnapi_convert::nnapi
