// SPDX-License-Identifier: BSD-3-Clause
// The types of forward's inputs. They come from, in this order: --input, the example in the file (bundled inputs, or
// what the model was traced with, which PyTorch 2 saves), the weights that an input meets first (rank and channels; the
// other sizes stay flexible). Never a guess. `pixels` says which input takes bytes of pictures, if one does.
#pragma once

#include <optional>
#include <vector>

#include "lib/converter/graph/normalised_model.h"
#include "lib/converter/load/load.h"
#include "lib/types/options.h"
#include "lib/types/tensor_type.h"
#include "lib/types/type_source.h"

namespace nnapi_convert {

struct InputTypes {
  std::vector<TensorType> types;
  std::vector<TypeSource> sources;  // one for each type
};

// The tensors of the example in the file, one for each input; none without an example.
struct ExampleTensors {
  InputTuple tensors;
  TypeSource source = TypeSource::kBundledInputs;
};

// One type for each input of the model. Throws ConvertError: kUsage for
// specs that don't fit the signature, kNotConvertible for inputs of which nothing is known; the message names the flag.
InputTypes input_types(const NormalisedModel& model, const ExampleTensors& example, const std::vector<InputSpec>& specs,
                       const std::optional<PixelInput>& pixels = {});

}  // namespace nnapi_convert
