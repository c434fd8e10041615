// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/row_chunks.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_map>

namespace nnapi_convert {
namespace {

// Returns the operand's sizes in PyTorch's order of axes.
std::vector<int64_t> sizes_of(const nnapi::Operand& operand) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : operand.dims) sizes.push_back(dim.fixed_value().value_or(-1));
  if (operand.is_nhwc && sizes.size() == 4) std::rotate(sizes.begin() + 1, sizes.begin() + 3, sizes.end());
  return sizes;
}

// Returns the axes that may be the tensor's rows: all other sizes are those of one call.
std::vector<int64_t> axes_of_rows(const at::Tensor& tensor, const nnapi::Operand& operand, int64_t per_call) {
  const std::vector<int64_t> sizes = sizes_of(operand);
  std::vector<int64_t> axes;
  if (static_cast<int64_t>(sizes.size()) != tensor.dim()) return axes;
  for (int64_t axis = 0; axis < tensor.dim(); ++axis) {
    std::vector<int64_t> in_one_call = tensor.sizes().vec();
    in_one_call[static_cast<size_t>(axis)] = per_call;
    if (in_one_call == sizes) axes.push_back(axis);
  }
  return axes;
}

bool has_sizes_of_call(const at::Tensor& tensor, const nnapi::Operand& operand) {
  return tensor.sizes() == sizes_of(operand);
}

class Calls {
 public:
  Calls(const nnapi::Model& model, int64_t per_call) : per_call_(per_call) {
    for (const nnapi::Operand& operand : model.operands) {
      if (!operand.name.empty()) operands_[operand.name] = &operand;
    }
    for (const nnapi::Boundary& input : model.inputs) inputs_[input.argument] = &model.at(input.operand);
  }

  std::optional<std::vector<CallValues>> run(const std::vector<at::Tensor>& given, const ReferenceValues& values) {
    if (!count_rows(given)) return std::nullopt;
    std::vector<CallValues> calls;
    for (int64_t first = 0; first < rows_; first += per_call_) {
      CallValues call;
      for (size_t i = 0; i < given.size(); ++i) {
        const auto input = inputs_.find(i);
        call.given.push_back(input == inputs_.end() ? given[i] : *part(given[i], *input->second, first));
      }
      for (const auto& [name, tensor] : values) {
        const auto operand = operands_.find(name);
        if (operand == operands_.end()) continue;
        if (const auto found = part(tensor, *operand->second, first)) call.values[name] = *found;
      }
      calls.push_back(std::move(call));
    }
    return calls;
  }

 private:
  // Counts the rows of the inputs that are given; one call's rows if all inputs have its sizes. False if they are
  // unclear.
  bool count_rows(const std::vector<at::Tensor>& given) {
    rows_ = per_call_;
    for (const auto& [number, operand] : inputs_) {
      const at::Tensor& tensor = given.at(number);
      if (has_sizes_of_call(tensor, *operand)) continue;
      const std::vector<int64_t> axes = axes_of_rows(tensor, *operand, per_call_);
      if (axes.size() != 1) return false;
      const int64_t rows = tensor.size(axes[0]);
      if (rows_ != per_call_ && rows_ != rows) return false;
      rows_ = rows;
    }
    return true;
  }

  std::optional<at::Tensor> part(const at::Tensor& tensor, const nnapi::Operand& operand, int64_t first) const {
    if (has_sizes_of_call(tensor, operand)) return tensor;
    const std::vector<int64_t> axes = axes_of_rows(tensor, operand, per_call_);
    if (axes.size() != 1 || tensor.size(axes[0]) != rows_) return std::nullopt;
    const at::Tensor rows = (at::arange(per_call_, at::TensorOptions(at::kLong)) + first).clamp_max(rows_ - 1);
    return tensor.index_select(axes[0], rows);
  }

  int64_t per_call_;
  int64_t rows_ = 0;
  std::unordered_map<std::string, const nnapi::Operand*> operands_;
  std::unordered_map<size_t, const nnapi::Operand*> inputs_;  // by the number of their argument
};

}  // namespace

std::optional<std::vector<CallValues>> in_calls(const nnapi::Model& model, const std::vector<at::Tensor>& given,
                                                const ReferenceValues& values, int64_t rows_per_call) {
  return Calls(model, rows_per_call).run(given, values);
}

}  // namespace nnapi_convert
