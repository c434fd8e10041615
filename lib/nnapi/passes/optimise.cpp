#include "lib/nnapi/passes/optimise.h"

#include <algorithm>

#include "lib/nnapi/passes/choose_layout.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/drop_tile.h"
#include "lib/nnapi/passes/fold_affine.h"
#include "lib/nnapi/passes/fuse_activation.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "lib/nnapi/passes/recognise_channel_shuffle.h"
#include "lib/nnapi/passes/reduce_rank.h"
#include "lib/nnapi/passes/sink_moves.h"
#include "lib/nnapi/passes/split_untransposed.h"

namespace nnapi_convert::nnapi {
namespace {

struct Pass {
  const char* name;
  void (*run)(Model& model);
  int feature_level = 1;  // of the operations that it makes
};

// Passes in PyTorch's order of axes. merge_moves cleans up behind those that move RESHAPE and TRANSPOSE.
const Pass kBeforeLayout[] = {
    {"drop_tile", drop_tile},
    {"reduce_rank", reduce_rank},
    {"merge_moves", merge_moves},
    {"recognise_channel_shuffle", recognise_channel_shuffle, 3},
    {"sink_moves", sink_moves},
    {"merge_moves", merge_moves},
    {"split_untransposed", split_untransposed},
    {"merge_moves", merge_moves},
    {"fold_affine", fold_affine},
    {"fuse_activation", fuse_activation},
};

void run(const Pass& pass, Model& model, const OptimiseOptions& options) {
  if (pass.feature_level > options.feature_level || options.disabled.count(pass.name) != 0) return;
  pass.run(model);
  if (options.on_pass) options.on_pass(pass.name, model);
}

}  // namespace

void optimise(Model& model, const OptimiseOptions& options) {
  for (const Pass& pass : kBeforeLayout) run(pass, model, options);
  choose_layout(model, options.nhwc);
  if (options.on_pass) options.on_pass("choose_layout", model);
  run({"merge_moves", merge_moves}, model, options);
  compact(model);
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kBeforeLayout) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.emplace_back(pass.name);
  }
  return names;
}

}  // namespace nnapi_convert::nnapi
