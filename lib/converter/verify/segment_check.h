// SPDX-License-Identifier: BSD-3-Clause
// Compares one segment's operations with TorchScript. Each step runs the operations between values that both sides
// have.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lib/converter/samples/reference_values.h"
#include "lib/converter/verify/checked_value.h"
#include "lib/converter/verify/operation_variant.h"
#include "lib/nnapi/model.h"

namespace nnapi_convert {

// Throws ConvertError (kBadFile): the file's models differ from those that converting the original makes now.
[[noreturn]] void refuse_another_model(const std::string& found);

class SegmentCheck {
 public:
  // Keeps a reference to `model`. Throws ConvertError (kBadFile) if the file's model differs from it.
  SegmentCheck(const nnapi::Model& model, SegmentModel file, size_t number);

  // Compares one run. `given` has the inputs of the segment's module, for operands without a name.
  void compare(const ReferenceValues& reference, const std::vector<at::Tensor>& given);

  const std::vector<CheckedValue>& values() const { return values_; }
  // Returns operations that lead to no value of TorchScript, and the number of runs in which values had other sizes.
  std::vector<std::string> unchecked() const;

 private:
  // Runs the operations from some known operands to the next known operand.
  struct Step {
    std::vector<size_t> operations;
    std::vector<uint32_t> inputs;
    uint32_t output = 0;
  };

  const nnapi_shim::OperandView& operand(uint32_t id) const { return file_.main().operands[id]; }
  const nnapi::Operand& described(uint32_t id) const { return model_.at(static_cast<nnapi::OperandId>(id)); }
  bool is_known(uint32_t id) const { return known_.count(id) != 0; }

  void take_known(const ReferenceValues& reference, const std::vector<at::Tensor>& given);
  void know(uint32_t id, const at::Tensor& tensor);
  std::vector<at::Tensor> known_of(const std::vector<uint32_t>& ids) const;
  void make_steps();
  bool collect(size_t operation, Step& step) const;
  bool knows_all_of(const Step& step) const;
  std::string place(size_t number) const;
  CheckedValue described_step(const Step& step) const;
  bool knows_inputs() const;
  std::vector<at::Tensor> run_all() const;
  double error_of(const at::Tensor& expected, const at::Tensor& found) const;
  void add(CheckedValue& value, uint32_t id, const at::Tensor& own, const at::Tensor& in_one_go);

  const nnapi::Model& model_;
  SegmentModel file_;
  size_t number_;
  std::vector<int> producers_;
  std::unordered_map<uint32_t, at::Tensor> known_;
  std::vector<Step> steps_;
  std::vector<CheckedValue> values_;
  std::vector<std::string> unchecked_;
  size_t other_sizes_ = 0;  // number of runs in which values had other sizes
};

}  // namespace nnapi_convert
