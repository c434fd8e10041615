// SPDX-License-Identifier: BSD-3-Clause
// Runs some operations of a converted file's NNAPI model on the host's NNAPI.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "lib/converter/load/converted_file.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/shim/model_view.h"

namespace nnapi_convert {

// A segment's NNAPI model from the file, with its weights.
class SegmentModel {
 public:
  // `module` is the file's module or a segment's; one for PyTorch's runtime with flexible sizes must have run once with
  // the sizes of `inputs`. Throws ConvertError (kBadFile) for a damaged model.
  SegmentModel(const torch::jit::Module& module, Runtime runtime, const std::vector<at::Tensor>& inputs);

  // Returns the main model, without flexible sizes.
  const nnapi_shim::SubgraphView& main() const { return view_.models[0]; }

  // Runs the operations, which have to be in the model's order and include all operations from `inputs` to `outputs`.
  // `values` are the inputs' values, made by to_physical(). Throws ConvertError (kVerificationFailed) if NNAPI fails.
  std::vector<at::Tensor> run(const std::vector<size_t>& operations, const std::vector<uint32_t>& inputs,
                              const std::vector<at::Tensor>& values, const std::vector<uint32_t>& outputs) const;

 private:
  void read_shim(const torch::jit::Module& module, const std::vector<at::Tensor>& inputs);
  void read_pytorch(const torch::jit::Module& module);

  nnapi_shim::ModelView view_;
  nnapi_shim::Weights weights_;
  BufferModel stock_;             // the view of a model of PyTorch's runtime points into it
  std::vector<at::Tensor> kept_;  // the view and the weights point into these
};

// True for operands whose elements can be compared: tensors of float32, int32, bool and 8-bit types.
bool is_comparable(const nnapi_shim::OperandView& operand);

// Returns a tensor's elements with the operand's type and order of axes; an undefined tensor if the sizes don't fit.
at::Tensor to_physical(const at::Tensor& tensor, const nnapi_shim::OperandView& operand, bool is_nhwc);

// Returns an operand's values as float64, in PyTorch's order of axes.
at::Tensor to_real(const at::Tensor& physical, const nnapi_shim::OperandView& operand, bool is_nhwc);

}  // namespace nnapi_convert
