// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/device_forms.h"

#include <algorithm>
#include <set>

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

class RefusedIntegers {
 public:
  RefusedIntegers(const nnapi::DeviceProfile& device, const Model& model, const Assignment& assignment,
                  const Rewritten& integers)
      : device_(device), model_(model), assignment_(assignment), integers_(integers) {}

  std::vector<size_t> find() {
    for (const Operation& operation : integers_.model.operations) {
      if (!device_.refusal(integers_.model, operation).empty()) add_causes(operation);
    }
    return {found_.begin(), found_.end()};
  }

 private:
  void add_causes(const Operation& operation) {
    const bool is_quantize = operation.code == OperationCode::QUANTIZE;
    if ((is_quantize || operation.code == OperationCode::DEQUANTIZE) && !device_.may_take(operation.code)) return;
    const OperandId value = float_of(operation.outputs[0]);
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const std::vector<OperandId>& operands = is_quantize ? model_.operations[i].inputs : model_.operations[i].outputs;
      if (std::find(operands.begin(), operands.end(), value) != operands.end()) add(i);
    }
  }

  void add(size_t number) {
    if (assignment_.is_integer[number] && device_.refusal(model_, model_.operations[number]).empty()) {
      found_.insert(number);
    }
  }

  // Returns the operand of the float model for an operand of the integer form; the operand itself if it is no integer
  // form.
  OperandId float_of(OperandId operand) const {
    const std::vector<OperandId>& forms = integers_.integer_operands;
    const auto found = std::find(forms.begin(), forms.end(), operand);
    return found == forms.end() ? operand : static_cast<OperandId>(found - forms.begin());
  }

  const nnapi::DeviceProfile& device_;
  const Model& model_;
  const Assignment& assignment_;
  const Rewritten& integers_;
  std::set<size_t> found_;
};

}  // namespace

std::vector<size_t> refused_integers(const nnapi::DeviceProfile& device, const Model& model,
                                     const Assignment& assignment, const Rewritten& integers) {
  return RefusedIntegers(device, model, assignment, integers).find();
}

}  // namespace nnapi_convert::quantise
