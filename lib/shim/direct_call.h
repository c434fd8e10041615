// SPDX-License-Identifier: BSD-3-Clause
// Runs a model whose inputs and outputs differ from the module's only in layout (NCHW or NHWC). Most modules call NNAPI
// this way. It is fast: it keeps the core's answers about shapes, and changes layouts without PyTorch's operators.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// Returns PyTorch's dtype for an operand type of NNAPI. Throws c10::Error if PyTorch has none.
c10::ScalarType scalar_type(int32_t operand_type);

// Checks dtype, device, scale and zero point of the tensor for this input, but not its shape. Throws c10::Error if one
// is wrong: given another scale, NNAPI would silently compute wrong numbers.
void check_input(const at::Tensor& input, const nnapi_shim_tensor& needed, size_t index);

// Several threads may call run() at the same time.
class DirectCall {
 public:
  explicit DirectCall(nnapi_shim_model*& model) : model_(model) {}

  // Runs the model on the arguments of the module's forward. `scales` are the outputs' scales as doubles: PyTorch keeps
  // more digits than NNAPI. Returns an nnapi_shim_status. Throws c10::Error if an argument has another dtype, device
  // or quantisation than the model's.
  int run(const c10::List<at::Tensor>& arguments, at::ArrayRef<double> scales, std::vector<at::Tensor>& outputs,
          nnapi_shim_error& error);

 private:
  struct Boundary {
    nnapi_shim_tensor tensor;
    c10::ScalarType dtype;
    std::vector<int64_t> sizes;  // the sizes in PyTorch's order
    bool is_nhwc;
  };
  // The inputs and outputs that the core reports for arguments of these shapes.
  struct Described {
    std::vector<std::vector<int64_t>> arguments;
    std::vector<Boundary> inputs, outputs;
    bool is_of(at::ArrayRef<nnapi_shim_shape> shapes) const;
  };

  std::shared_ptr<const Described> find(at::ArrayRef<nnapi_shim_shape> shapes, nnapi_shim_error& error);
  int describe(at::ArrayRef<nnapi_shim_shape> shapes, Described& described, nnapi_shim_error& error) const;
  static Boundary boundary(const nnapi_shim_tensor& tensor);

  nnapi_shim_model*& model_;
  std::mutex mutex_;
  std::shared_ptr<const Described> newest_;
};

}  // namespace nnapi_shim
