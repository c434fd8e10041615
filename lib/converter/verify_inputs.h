// What original and result are run on when they are compared, and the library that runs the result.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <vector>

#include "lib/converter/verify.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {

using Tensors = std::vector<at::Tensor>;

// The host's NNAPI, for the rest of the process: PyTorch's loader asks for the library by name and is given this one.
// Throws ConvertError (kBadFile).
void load_host_library();

// The tensors of a result, in the order of a walk through tuples and lists.
void flatten(const c10::IValue& value, Tensors& tensors);

// `count` samples of what the converted module takes, seeded; or those of the request's file. Throws ConvertError
// (kBadFile) for a file of other tensors.
std::vector<Tensors> make_samples(const VerifyRequest& request, const Metadata& metadata, int count);

// A sample as the original takes it.
Tensors with_original_dtypes(const Tensors& inputs, const Metadata& metadata);

}  // namespace nnapi_convert
