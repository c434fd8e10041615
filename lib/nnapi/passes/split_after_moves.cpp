// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/split_after_moves.h"

#include <algorithm>
#include <optional>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/insertions.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

// The only operations that read the parts of a SPLIT, in the order of the parts.
using Readers = std::vector<Operation*>;

class Lifting {
 public:
  explicit Lifting(Model& model) : model_(model), builder_(model), uses_(model) {
    reader_.assign(model.operands.size(), nullptr);
    for (Operation& operation : model.operations) {
      for (const OperandId id : operation.inputs) reader_[static_cast<size_t>(id)] = &operation;
    }
  }

  // Lifts one move from behind each SPLIT; returns false if there is none to lift.
  bool run() {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      Operation& split = model_.operations[i];
      if (split.code != OperationCode::SPLIT || split.outputs.size() < 2) continue;
      const Dims* axis = model_.at(split.inputs[1]).ints();
      const auto readers = readers_of(split);
      if (axis == nullptr || !readers) continue;
      const Dims& dims = model_.at(split.inputs[0]).dims;
      const auto along = static_cast<size_t>((*axis)[0].value() + ((*axis)[0].value() < 0 ? dims.size() : 0));
      if (!lift_reshapes(i, along, *readers)) lift_transposes(i, along, *readers);
    }
    if (lifted_.empty()) return false;
    lifted_.apply(model_);
    return true;
  }

 private:
  bool is_single(OperandId id) const {
    return uses_.readers[static_cast<size_t>(id)] == 1 && reader_[static_cast<size_t>(id)] != nullptr;
  }

  // False for tensors of four axes whose layout isn't chosen yet: pictures.
  bool has_layout(OperandId id) const {
    if (model_.at(id).dims.size() < 4) return true;
    const int producer = uses_.producer[static_cast<size_t>(id)];
    return producer >= 0 && model_.operations[static_cast<size_t>(producer)].code == OperationCode::RESHAPE;
  }

  std::optional<Readers> readers_of(const Operation& split) const {
    if (!has_layout(split.inputs[0])) return std::nullopt;
    Readers readers;
    for (const OperandId part : split.outputs) {
      if (!is_single(part)) return std::nullopt;
      Operation* reader = reader_[static_cast<size_t>(part)];
      const bool is_same = reader->code == OperationCode::RESHAPE || reader->code == OperationCode::TRANSPOSE;
      if (!is_same || (!readers.empty() && readers[0]->code != reader->code)) return std::nullopt;
      if (model_.at(reader->outputs[0]).dims.size() > kMaxMoveRank) return std::nullopt;
      readers.push_back(reader);
    }
    return readers;
  }

  // Puts one move of the whole tensor in front of the SPLIT, and removes the parts' moves.
  void lift(size_t split_index, const Readers& readers, OperandId argument, Dims dims, size_t axis) {
    Operation& split = model_.operations[split_index];
    Operand type = model_.at(split.inputs[0]);
    type.dims = std::move(dims);
    Operation move{readers[0]->code, {split.inputs[0], argument}, {builder_.variable(type)}, split.source};
    split.inputs[0] = move.outputs[0];
    split.inputs[1] = builder_.int32(static_cast<int64_t>(axis));
    for (size_t i = 0; i < readers.size(); ++i) split.outputs[i] = readers[i]->outputs[0];
    for (Operation* reader : readers) reader->outputs.clear();
    lifted_.add_before(split_index, std::move(move));
  }

  // Lifts equal RESHAPEs. The SPLIT's axis has to become axes of the results; the first of these is longer in the whole
  // tensor.
  bool lift_reshapes(size_t split_index, size_t along, const Readers& readers) {
    const Operation& split = model_.operations[split_index];
    Dims before = model_.at(split.inputs[0]).dims, after = model_.at(readers[0]->outputs[0]).dims;
    for (const Operation* reader : readers) {
      if (reader->code != OperationCode::RESHAPE || model_.at(reader->outputs[0]).dims != after) return false;
    }
    const auto product_before = [](const Dims& dims, size_t axis) {
      return product(Dims(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis)));
    };
    size_t axis = 0;
    while (axis < after.size() && product_before(after, axis) != product_before(before, along)) ++axis;
    while (axis + 1 < after.size() && after[axis] == Dim(1)) ++axis;
    if (axis == after.size()) return false;
    after[axis] *= Dim(static_cast<int64_t>(readers.size()));
    lift(split_index, readers, builder_.int32_tensor(after), after, axis);
    return true;
  }

  std::vector<int64_t> order_of(const Operation& transpose) const {
    const Dims* order = transpose.inputs.size() == 2 ? model_.at(transpose.inputs[1]).ints() : nullptr;
    return order == nullptr ? std::vector<int64_t>() : fixed_values(*order);
  }

  // Returns the number of the input of a BATCH_MATMUL that alone reads the operand, if its flag can be turned.
  std::optional<size_t> matrix_of_product(OperandId id) const {
    if (!is_single(id)) return std::nullopt;
    const Operation& reader = *reader_[static_cast<size_t>(id)];
    if (reader.code != OperationCode::BATCH_MATMUL) return std::nullopt;
    const size_t matrix = reader.inputs[0] == id ? 0 : 1;
    const bool has_flag = std::holds_alternative<bool>(model_.at(reader.inputs[2 + matrix]).value);
    return has_flag ? std::optional(matrix) : std::nullopt;
  }

  // Returns whether the TRANSPOSE has the wanted order, or has it with the last two axes exchanged and a BATCH_MATMUL
  // reads the result: its flag can then be turned.
  bool fits(const Operation& transpose, const std::vector<int64_t>& wanted) const {
    std::vector<int64_t> order = order_of(transpose);
    if (order == wanted) return true;
    if (order.size() < 2) return false;
    std::swap(order[order.size() - 2], order[order.size() - 1]);
    return order == wanted && matrix_of_product(transpose.outputs[0]).has_value();
  }

  void turn(const Operation& transpose, const std::vector<int64_t>& wanted) {
    if (order_of(transpose) == wanted) return;
    const OperandId result = transpose.outputs[0];
    Operation& reader = *reader_[static_cast<size_t>(result)];
    const size_t matrix = *matrix_of_product(result);
    OperandId& flag = reader.inputs[2 + matrix];
    flag = builder_.boolean(!std::get<bool>(model_.at(flag).value));
    Dims& dims = model_.at(result).dims;
    std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  }

  void lift_transposes(size_t split_index, size_t along, const Readers& readers) {
    if (readers[0]->code != OperationCode::TRANSPOSE) return;
    for (const Operation* candidate : readers) {
      const std::vector<int64_t> wanted = order_of(*candidate);
      const bool all = !wanted.empty() && std::all_of(readers.begin(), readers.end(),
                                                      [&](const Operation* reader) { return fits(*reader, wanted); });
      if (!all) continue;
      for (const Operation* reader : readers) turn(*reader, wanted);
      const auto axis = std::find(wanted.begin(), wanted.end(), static_cast<int64_t>(along)) - wanted.begin();
      const Dims dims = permute(model_.at(model_.operations[split_index].inputs[0]).dims, wanted);
      lift(split_index, readers, builder_.int32_tensor(to_dims(wanted)), dims, static_cast<size_t>(axis));
      return;
    }
  }

  Model& model_;
  Builder builder_;
  Uses uses_;
  std::vector<Operation*> reader_;  // by operand: the last operation that reads it
  Insertions lifted_;
};

}  // namespace

void split_after_moves(Model& model) {
  bool any = false;
  while (Lifting(model).run()) any = true;
  if (any) merge_moves(model);
}

}  // namespace nnapi_convert::nnapi
