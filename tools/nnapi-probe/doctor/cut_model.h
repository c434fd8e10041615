// SPDX-License-Identifier: BSD-3-Clause
// Cuts models out of a model: some of its operations, with the other tensors that they read as inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/shim/model_view.h"

namespace nnapi_doctor {

// A cut model. `view` is a model by itself. `inputs` and `outputs` are operands of the model from which it was cut, in
// the order of the cut model's own inputs and outputs.
struct CutModel {
  nnapi_shim::ModelView view;
  std::vector<uint32_t> inputs, outputs;

 private:
  friend class ModelCutter;
  std::shared_ptr<std::vector<std::vector<uint32_t>>> lists;  // the lists to which the operations of `view` point
};

// Answers questions about the main model of a view, and cuts models out of it.
class ModelCutter {
 public:
  // The view has to outlive the cutter, and the view's words the cut models.
  explicit ModelCutter(const nnapi_shim::ModelView& view);

  // Cuts out `operations`, numbers of operations of the main model in ascending order. The outputs are the results that
  // operations outside of the cut read, and those that are outputs of the main model; all results if there are none.
  CutModel cut(const std::vector<uint32_t>& operations) const;

  bool is_constant(uint32_t operand) const { return constants_[operand]; }
  // Returns the quantised operand from which a DEQUANTIZE makes the operand; -1 if no DEQUANTIZE makes it.
  int64_t dequantised_from(uint32_t operand) const;
  // Returns the operation that makes the operand; -1 if none does.
  int64_t producer(uint32_t operand) const { return producers_[operand]; }
  // Returns the operations that make inputs of this one, in ascending order.
  std::vector<uint32_t> producers_of(uint32_t operation) const;
  bool reads_input(uint32_t operation) const;
  // Returns whether the operand is computed from quantised results of these operations; `operations` are as in cut().
  bool follows_integers(uint32_t operand, const std::vector<uint32_t>& operations) const;

 private:
  const nnapi_shim::SubgraphView& main() const { return view_.models[0]; }

  const nnapi_shim::ModelView& view_;
  std::vector<bool> constants_, outputs_;                  // by operand: it has a value, it is an output of the model
  std::vector<int64_t> producers_;                         // by operand
  std::vector<std::vector<uint32_t>> reading_operations_;  // by operand
};

}  // namespace nnapi_doctor
