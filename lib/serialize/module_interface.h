// What callers of the emitted module see, and what the module does around NNAPI.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/types/tensor_type.h"

namespace nnapi_convert {

// How forward returns its tensors: a tensor, or a tuple, list or dict of such trees; of a partitioned model also other
// values, in which no tensors are known.
struct ReturnTree {
  enum class Kind { kTensor, kTuple, kList, kDict, kOther };
  Kind kind = Kind::kTensor;
  size_t tensor = 0;  // number of the tensor, for kTensor
  std::vector<ReturnTree> elements;
  std::vector<std::string> keys;  // of the elements, for kDict
};

// An argument of forward.
struct InterfaceInput {
  std::string name;
  TensorType type;                       // what the caller passes
  std::optional<Quantization> quantize;  // quantised to quint8 on the CPU before NNAPI
  bool is_read = true;                   // by NNAPI or as an output
  TensorType original;                   // what the original's forward takes
};

// A tensor that forward returns. NNAPI can't return an input, a constant, or one value twice: the module does.
struct InterfaceOutput {
  enum class Source { kNnapi, kInput, kConstant };
  Source source = Source::kNnapi;
  size_t index = 0;                   // of NNAPI's output, or of forward's argument
  at::Tensor constant;                // for kConstant
  bool dequantize = false;            // on the CPU, after NNAPI
  Quantization quantization;          // of the last quantised tensor on the way to the caller; none in float models
  at::ScalarType dtype = at::kFloat;  // what the caller gets
  at::ScalarType original_dtype = at::kFloat;  // what the original's forward gives
  std::optional<Dims> shape = {};              // what the caller gets, where NNAPI's tensor has another rank
  bool is_contiguous = false;                  // in memory too it is in PyTorch's order
};

struct ModuleInterface {
  std::vector<InterfaceInput> inputs;
  std::vector<InterfaceOutput> outputs;
  ReturnTree return_tree;
  bool owns_outputs = false;  // changed in place, an output changes no other one and no input
};

}  // namespace nnapi_convert
