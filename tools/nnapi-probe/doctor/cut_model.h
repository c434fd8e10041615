// SPDX-License-Identifier: BSD-3-Clause
// Cuts models out of a model: some of its operations, with what else they read as inputs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/shim/model_view.h"

namespace nnapi_doctor {

// `view` is a model by itself. `inputs` and `outputs` are operands of the model that it was cut from, in the order of
// the cut model's own inputs and outputs.
struct CutModel {
  nnapi_shim::ModelView view;
  std::vector<uint32_t> inputs, outputs;

 private:
  friend class ModelCutter;
  std::shared_ptr<std::vector<std::vector<uint32_t>>> lists;  // what the operations of `view` point to
};

// Answers questions about the main model of a view, and cuts models out of it.
class ModelCutter {
 public:
  // The view has to outlive the cutter, its words the cut models.
  explicit ModelCutter(const nnapi_shim::ModelView& view);

  // `operations` are numbers of operations of the main model, in ascending order. Outputs are the results that
  // operations outside of the cut read, and those that are outputs of the main model; where there are none, all.
  CutModel cut(const std::vector<uint32_t>& operations) const;

  bool is_constant(uint32_t operand) const { return constants_[operand]; }
  // The quantised operand that a DEQUANTIZE makes the operand of; -1: no DEQUANTIZE makes it.
  int64_t dequantised_from(uint32_t operand) const;
  // The operation that makes the operand; -1: none does.
  int64_t producer(uint32_t operand) const { return producers_[operand]; }
  // The operations that make inputs of this one, in ascending order.
  std::vector<uint32_t> producers_of(uint32_t operation) const;
  bool reads_input(uint32_t operation) const;
  // Whether the operand is computed from quantised results of these operations, which are as for cut().
  bool follows_integers(uint32_t operand, const std::vector<uint32_t>& operations) const;

 private:
  const nnapi_shim::SubgraphView& main() const { return view_.models[0]; }

  const nnapi_shim::ModelView& view_;
  std::vector<bool> constants_, outputs_;                  // of operands: has a value, is an output of the model
  std::vector<int64_t> producers_;                         // by operand
  std::vector<std::vector<uint32_t>> reading_operations_;  // by operand
};

}  // namespace nnapi_doctor
