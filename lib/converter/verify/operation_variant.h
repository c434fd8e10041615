// Parts of a converted file's NNAPI models, run on the host's NNAPI: some operations, from some operands to others.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "lib/converter/load/converted_file.h"
#include "lib/serialize/buffer_reader.h"
#include "lib/shim/model_view.h"

namespace nnapi_convert {

// A segment's NNAPI model as the file has it, its weights included.
class SegmentModel {
 public:
  // `module` is the file's own or a segment's; a flexible one of PyTorch's runtime has to have run once with these
  // sizes. Throws ConvertError (kBadFile) for a damaged one.
  SegmentModel(const torch::jit::Module& module, Runtime runtime, const std::vector<at::Tensor>& inputs);

  // The main model, without flexible sizes.
  const nnapi_shim::SubgraphView& main() const { return view_.models[0]; }

  // Runs the operations, which are in the model's order and all that lies between the operands; `values` are the
  // inputs' as to_physical() gives them. Throws ConvertError (kVerificationFailed) where NNAPI fails.
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

// True for operands whose elements are compared: tensors of float32, int32, bool and of 8 bits.
bool is_comparable(const nnapi_shim::OperandView& operand);

// A tensor's elements as the operand holds them: its type, its order of axes. Undefined where the sizes don't fit.
at::Tensor to_physical(const at::Tensor& tensor, const nnapi_shim::OperandView& operand, bool is_nhwc);

// What an operand holds as float64, in PyTorch's order of axes.
at::Tensor to_real(const at::Tensor& physical, const nnapi_shim::OperandView& operand, bool is_nhwc);

}  // namespace nnapi_convert
