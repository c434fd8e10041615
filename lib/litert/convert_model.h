// Writes NNAPI models as a LiteRT file (.tflite): each model becomes a subgraph and a signature.
//
// NNAPI's operations were taken from LiteRT's, so most become one operator (operations.h). What the format forces
// besides: explicit padding becomes PAD, tensors that must have one scale get it by QUANTIZE, uint8 becomes int8.
#pragma once

#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/litert/file.h"
#include "lib/litert/signature.h"

namespace nnapi_convert::litert {

struct ConvertedFile {
  File file;
  std::vector<Refusal> refusals;  // operations that LiteRT has no form for; the file is of use only without them
  std::vector<Warning> warnings;
};

// Makes the file; reads no weights. The models have to be valid, in NHWC, and to live as long as the file.
ConvertedFile convert_model(const std::vector<SignatureModel>& signatures, const WriteOptions& options);

}  // namespace nnapi_convert::litert
