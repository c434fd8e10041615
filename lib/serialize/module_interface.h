// SPDX-License-Identifier: BSD-3-Clause
// Describes the interface of an emitted module for callers, and the module's steps around NNAPI.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/serialize/argument_tree.h"
#include "lib/types/size_condition.h"
#include "lib/types/tensor_type.h"
#include "lib/types/type_source.h"

namespace nnapi_convert {

// The structure of forward's result: a tensor, a constant number, bool, text or None, or a tuple, list or dict of such
// trees. kOther, only in partitioned models, is another value without known tensors.
struct ReturnTree {
  enum class Kind { kTensor, kTuple, kList, kDict, kConstant, kOther };
  Kind kind = Kind::kTensor;
  size_t tensor = 0;  // for kTensor: the number of the tensor
  std::vector<ReturnTree> elements;
  std::vector<c10::IValue> keys;      // for kDict: the keys of the elements
  c10::TupleTypePtr named = nullptr;  // for kTuple: the type of a NamedTuple; null for a plain tuple
  c10::IValue constant = {};          // for kConstant: the value
  c10::TypePtr declared = nullptr;    // the type that forward declares for it, as far as it is known
};

// An argument of forward.
struct InterfaceInput {
  std::string name;
  TensorType type;                          // the type that the caller passes
  std::optional<Quantization> quantize;     // if set, the module quantises the input to quint8 on the CPU before NNAPI
  bool is_read = true;                      // NNAPI reads the input, or it is an output
  TensorType original;                      // the type that the original's forward takes
  TypeSource source = TypeSource::kOption;  // of `original`
};

// A tensor that forward returns. NNAPI can't return an input, a constant, or one value twice: the module returns those.
struct InterfaceOutput {
  enum class Source { kNnapi, kInput, kConstant };
  Source source = Source::kNnapi;
  size_t index = 0;                   // the number of NNAPI's output or of forward's argument
  at::Tensor constant;                // for kConstant: the value
  bool dequantize = false;            // the module dequantises the output on the CPU after NNAPI
  Quantization quantization;          // of the last quantised tensor on the way to the caller; none in float models
  at::ScalarType dtype = at::kFloat;  // the caller's dtype
  at::ScalarType original_dtype = at::kFloat;  // the dtype that the original's forward returns
  std::optional<Dims> shape = {};              // the caller's shape, if NNAPI's tensor has another rank
  bool is_contiguous = false;                  // the memory is in PyTorch's order, too
};

struct ModuleInterface {
  std::vector<InterfaceInput> inputs;
  std::vector<InterfaceOutput> outputs;
  ReturnTree return_tree;
  bool owns_outputs = false;  // no output shares memory with another output or an input
  std::vector<size_t> changed_inputs =
      {};                           // the original changes them in place, and another input must not be the same
  SizeConditions conditions = {};   // on the sizes of inputs, which forward checks
  ForwardArguments arguments = {};  // of a whole model with arguments that have one value; none: the inputs alone
};

}  // namespace nnapi_convert
