// SPDX-License-Identifier: BSD-3-Clause
// Finds the types of forward's inputs. They come from, in this order: --input, the example in the file (bundled inputs,
// or what the model was traced with, which PyTorch 2 saves), the weights (solve_sizes.h): where they leave one answer
// but for the batch, which is 1 then, and the usual height and width where a picture's change no size of a result.
// Never a guess without a word. `pixels` says which input takes bytes of pictures, if one does.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/converter/frontend/inferred_types.h"
#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/load/load.h"
#include "lib/types/options.h"
#include "lib/types/tensor_type.h"
#include "lib/types/type_source.h"

namespace nnapi_convert {

struct InputTypes {
  std::vector<TensorType> types;
  std::vector<TypeSource> sources;                       // one for each type
  std::vector<std::map<size_t, SizeRange>> ranges = {};  // of open sizes, by axis; one for each type
};

// The tensors of the example in the file, one for each input; none without an example.
struct ExampleTensors {
  InputTuple tensors;
  TypeSource source = TypeSource::kBundledInputs;
};

// Returns one type for each input of the model, and warns of sizes that the weights told. Throws ConvertError: kUsage
// for specs that don't fit the signature, kNotConvertible (OptionsNeeded, if an example of the sizes is known) for
// inputs whose sizes are not known.
InputTypes input_types(const NormalisedModel& model, const ExampleTensors& example, const std::vector<InputSpec>& specs,
                       const std::optional<PixelInput>& pixels, const InferOptions& options, Diagnostics& diagnostics);

}  // namespace nnapi_convert
