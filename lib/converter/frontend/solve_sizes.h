// SPDX-License-Identifier: BSD-3-Clause
// Finds the sizes of inputs that no file states and --input doesn't give. The graph is typed with every size of such an
// input open, for one rank after the other. What the operators' weights ask of their tensors (lib/ops/size_demands.h)
// then makes equations of the open sizes, which are solved: channels, widths, the square that a flatten before a linear
// layer fits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/dim.h"
#include "lib/converter/frontend/inferred_types.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// The knowledge about one input's sizes.
struct SolvedSizes {
  Dims dims;              // fixed where the weights leave one answer, and 1 for a batch; else open sizes of the input
  bool is_usual = false;  // height and width are free: they are the usual ones of pictures
  bool may_stay_open = false;    // every operator takes the open sizes of `dims`
  bool may_be_taken = false;     // all sizes of all inputs are fixed, and every operator takes them
  bool has_any_rows = false;     // the first axis may have any size, all else is fixed: a batch of rows of features
  std::vector<int64_t> example;  // sizes that the model takes; none where no example was found
};

// An input whose sizes are sought.
struct UnknownInput {
  size_t index;              // of the model's inputs
  at::ScalarType dtype;      // that its first reader takes
  std::optional<Dims> dims;  // what its first convolution tells, other sizes open; nothing: not even the rank
};

// Returns what is known of each of the inputs; nothing for one that no operator with weights reads. `known` has the
// types of the other inputs. Changes nothing.
std::vector<std::optional<SolvedSizes>> solve_sizes(const NormalisedModel& model, const TypeMap& known,
                                                    const std::vector<UnknownInput>& unknown,
                                                    const InferOptions& options);

}  // namespace nnapi_convert
