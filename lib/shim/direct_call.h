// A call whose arguments go to NNAPI as they are, but for their layout, and whose results come back so. It is the short
// way of most modules: nothing is asked of the core twice, and layouts change without the way through PyTorch's
// operators.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <vector>

#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {

// PyTorch's dtype of an operand type of NNAPI's. Throws c10::Error where it has none.
c10::ScalarType scalar_type(int32_t operand_type);

// Throws c10::Error unless NNAPI can take the tensor as this input, but for its shape: NNAPI computes wrong numbers
// from another scale without a word.
void check_input(const at::Tensor& input, const nnapi_shim_tensor& needed, size_t index);

// Threads may call at the same time.
class DirectCall {
 public:
  explicit DirectCall(nnapi_shim_model*& model) : model_(model) {}

  // `arguments` are those of the module's forward, `scales` the outputs' with the digits that PyTorch has more. Gives
  // an nnapi_shim_status. Throws c10::Error for an argument of another dtype, device or quantisation than the model's.
  int run(const c10::List<at::Tensor>& arguments, at::ArrayRef<double> scales, std::vector<at::Tensor>& outputs,
          nnapi_shim_error& error);

 private:
  struct Boundary {
    nnapi_shim_tensor tensor;
    c10::ScalarType dtype;
    std::vector<int64_t> sizes;  // in PyTorch's order
    bool is_nhwc;
  };
  // What the core says of arguments of these shapes.
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
