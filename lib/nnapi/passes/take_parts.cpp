// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/take_parts.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/insertions.h"

namespace nnapi_convert::nnapi {
namespace {

// A range of elements along one axis.
struct AxisRange {
  size_t axis = 0;
  int64_t begin = 0, end = 0;
};

class PartTaking {
 public:
  explicit PartTaking(Model& model) : model_(model), builder_(model), producers_(Uses(model).producer) {}

  void run() {
    const size_t count = model_.operations.size();
    for (size_t i = 0; i < count; ++i) {
      const std::optional<AxisRange> range = range_of(model_.operations[i]);
      if (!range || !is_made_of_parts(model_.operations[i].inputs[0], *range)) continue;
      const OperandId part = take(i, model_.operations[i].inputs[0], *range);
      replace_reads(model_, model_.operations[i].outputs[0], part);
    }
    made_.apply(model_);
    compact(model_);
  }

 private:
  const Operation* producer(OperandId id) const {
    const auto at = static_cast<size_t>(id);
    const int index = at < producers_.size() ? producers_[at] : -1;
    return index < 0 ? nullptr : &model_.operations[static_cast<size_t>(index)];
  }

  // Returns the range that a STRIDED_SLICE takes, if it takes consecutive elements of one axis and all elements of the
  // other axes.
  std::optional<AxisRange> range_of(const Operation& operation) const {
    if (operation.code != OperationCode::STRIDED_SLICE) return std::nullopt;
    const Dims& dims = model_.at(operation.inputs[0]).dims;
    if (model_.at(operation.inputs[0]).type != OperandCode::TENSOR_FLOAT32 || !all_fixed(dims)) return std::nullopt;
    const auto all_are = [&](OperandId id, int64_t value) {
      const Dims* values = model_.at(id).ints();
      return values != nullptr &&
             std::all_of(values->begin(), values->end(), [&](const Dim& each) { return each == Dim(value); });
    };
    const Dims* begin = model_.at(operation.inputs[1]).ints();
    const Dims* end = model_.at(operation.inputs[2]).ints();
    const bool is_plain = begin != nullptr && end != nullptr && all_fixed(*begin) && all_fixed(*end) &&
                          all_are(operation.inputs[3], 1) && all_are(operation.inputs[4], 0) &&
                          all_are(operation.inputs[5], 0) && all_are(operation.inputs[6], 0);
    if (!is_plain) return std::nullopt;
    std::optional<AxisRange> range;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if ((*begin)[axis].value() == 0 && (*end)[axis] == dims[axis]) continue;
      if (range || (*begin)[axis].value() < 0 || (*end)[axis].value() > dims[axis].value()) return std::nullopt;
      range = AxisRange{axis, (*begin)[axis].value(), (*end)[axis].value()};
    }
    return range;
  }

  size_t axis_of(const Operation& concatenation) const {
    return static_cast<size_t>((*model_.at(concatenation.inputs.back()).ints())[0].value());
  }

  static std::vector<OperandId> parts_of(const Operation& concatenation) {
    return {concatenation.inputs.begin(), concatenation.inputs.end() - 1};
  }

  // Returns the parts of a concatenation along the range's axis that together are the range; none if the range cuts a
  // part.
  std::vector<OperandId> parts_in(const Operation& concatenation, const AxisRange& range) const {
    std::vector<OperandId> found;
    int64_t begin = 0;
    for (const OperandId part : parts_of(concatenation)) {
      const int64_t end = begin + model_.at(part).dims[range.axis].value();
      if (begin >= range.begin && end <= range.end) {
        found.push_back(part);
      } else if (begin < range.end && end > range.begin) {
        return {};
      }
      begin = end;
    }
    return found;
  }

  // True if an operation makes the operand and it is no model output: NNAPI takes no operand as two outputs.
  bool is_inner(OperandId id) const {
    return producer(id) != nullptr && std::none_of(model_.outputs.begin(), model_.outputs.end(),
                                                   [&](const Boundary& output) { return output.operand == id; });
  }

  // Returns the range in the transpose's input.
  std::optional<AxisRange> before(const Operation& transpose, const AxisRange& range) const {
    const Dims* order = transpose.inputs.size() > 1 ? model_.at(transpose.inputs[1]).ints() : nullptr;
    if (order == nullptr || !all_fixed(*order)) return std::nullopt;
    return AxisRange{static_cast<size_t>((*order)[range.axis].value()), range.begin, range.end};
  }

  bool is_made_of_parts(OperandId id, const AxisRange& range) const {
    const Operation* operation = producer(id);
    if (operation == nullptr || !all_fixed(model_.at(id).dims)) return false;
    if (operation->code == OperationCode::TRANSPOSE) {
      const auto moved = before(*operation, range);
      return moved && is_made_of_parts(operation->inputs[0], *moved);
    }
    if (operation->code != OperationCode::CONCATENATION) return false;
    if (axis_of(*operation) == range.axis) {
      const std::vector<OperandId> found = parts_in(*operation, range);
      return found.size() > 1 || (found.size() == 1 && is_inner(found[0]));
    }
    const std::vector<OperandId> parts = parts_of(*operation);
    return std::all_of(parts.begin(), parts.end(), [&](OperandId part) { return is_made_of_parts(part, range); });
  }

  // Returns the range of the operand, made by operations that are added before operation `number`.
  OperandId take(size_t number, OperandId id, const AxisRange& range) {
    Operation operation = *producer(id);
    if (operation.code == OperationCode::TRANSPOSE) {
      operation.inputs[0] = take(number, operation.inputs[0], *before(operation, range));
    } else if (axis_of(operation) == range.axis) {
      std::vector<OperandId> parts = parts_in(operation, range);
      if (parts.size() == 1) return parts[0];
      parts.push_back(operation.inputs.back());
      operation.inputs = std::move(parts);
    } else {
      for (size_t i = 0; i + 1 < operation.inputs.size(); ++i) {
        operation.inputs[i] = take(number, operation.inputs[i], range);
      }
    }
    Operand type = model_.at(id);
    type.dims[range.axis] = Dim(range.end - range.begin);
    type.name.clear();
    operation.outputs = {builder_.variable(type)};
    made_.add_before(number, operation);
    return operation.outputs[0];
  }

  Model& model_;
  Builder builder_;
  std::vector<int> producers_;  // of the original model's operands
  Insertions made_;
};

}  // namespace

void take_parts(Model& model) {
  PartTaking(model).run();
}

}  // namespace nnapi_convert::nnapi
