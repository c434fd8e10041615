// SPDX-License-Identifier: BSD-3-Clause
// Writes NNAPI models as a LiteRT file (.tflite): each model becomes a subgraph and a signature.
//
// NNAPI's operations were taken from LiteRT's, so most become one operator (operations.h). The format forces three more
// changes: explicit padding becomes PAD, QUANTIZE brings tensors that must share a scale to one scale, and uint8
// becomes int8.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/litert/file.h"
#include "lib/litert/write_options.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert::litert {

// An input of a signature.
struct InputPort {
  std::string name;
  size_t index = 0;                // the number of the model's input
  bool is_float = false;           // callers give float32 for the model's quantised input
  bool is_uint8 = false;           // callers give uint8, such as pixels, whatever the options say
  std::optional<Dims> shape = {};  // in PyTorch's order, if its rank isn't that of the model's input
  // The type of an argument that no operation reads. The model has no input for it, but callers hand it over.
  std::optional<nnapi::Operand> unread = {};
};

// An output of a signature.
struct OutputPort {
  enum class Source { kModel, kInput, kConstant };
  std::string name;
  Source source = Source::kModel;
  size_t index = 0;                // the number of the model's output, or of the signature's input
  nnapi::Operand constant;         // the value if `source` is kConstant
  bool is_quantised = false;       // if kInput: gives the model's quantised input, not the caller's floats
  bool is_float = false;           // callers get the model's quantised output as float32
  std::optional<Dims> shape = {};  // in PyTorch's order, if its rank isn't that of the model's output
};

struct SignatureModel {
  std::string key;  // "serving_default" for forward
  const nnapi::Model* model = nullptr;
  std::vector<InputPort> inputs;
  std::vector<OutputPort> outputs;
};

struct ConvertedFile {
  File file;
  std::vector<Refusal> refusals;  // operations that LiteRT has no form for; the file is of use only without them
  std::vector<Warning> warnings;
};

// Makes the file; reads no weights. The models have to be valid, in NHWC, and to live as long as the file.
ConvertedFile convert_model(const std::vector<SignatureModel>& signatures, const WriteOptions& options);

}  // namespace nnapi_convert::litert
