// What is written: models with the names and types of their arguments and results, and how.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/nnapi/model.h"

namespace nnapi_convert::litert {

// An input of a signature: the model's input of the same number.
struct InputPort {
  std::string name;
  bool is_float = false;           // callers give float32 for the model's quantised input
  bool is_uint8 = false;           // callers give uint8, such as pixels, whatever the options say
  std::optional<Dims> shape = {};  // in PyTorch's order, if its rank isn't that of the model's input
};

// An output of a signature.
struct OutputPort {
  enum class Source { kModel, kInput, kConstant };
  std::string name;
  Source source = Source::kModel;
  size_t index = 0;                // the number of the model's output or input
  nnapi::Operand constant;         // of kConstant
  bool is_quantised = false;       // of kInput: the model's quantised input, not what callers gave
  bool is_float = false;           // callers get float32 of the model's quantised output
  std::optional<Dims> shape = {};  // in PyTorch's order, if its rank isn't that of the model's output
};

struct SignatureModel {
  std::string key;  // "serving_default" for forward
  const nnapi::Model* model = nullptr;
  std::vector<InputPort> inputs;
  std::vector<OutputPort> outputs;
};

struct WriteOptions {
  bool keeps_uint8 = false;  // otherwise uint8 tensors become int8, by subtracting 128
};

}  // namespace nnapi_convert::litert
