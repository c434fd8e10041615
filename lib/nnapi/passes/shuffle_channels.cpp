// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/shuffle_channels.h"

#include <algorithm>
#include <optional>

#include "lib/format/operation_table.h"
#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/convolution_inputs.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kChannelShuffleLevel = 3;

Dim product_of(const Dims& dims, size_t begin, size_t end) {
  return product(
      Dims(dims.begin() + static_cast<std::ptrdiff_t>(begin), dims.begin() + static_cast<std::ptrdiff_t>(end)));
}

struct Shuffle {
  Dim groups;
  size_t axis;
};

class Shuffler {
 public:
  explicit Shuffler(Model& model) : model_(model), builder_(model) {}

  void recognise() {
    const Uses uses(model_);
    for (Operation& last : model_.operations) {
      if (last.code != OperationCode::RESHAPE) continue;
      const Operation* transpose = producer(uses, last.inputs[0], OperationCode::TRANSPOSE);
      if (transpose == nullptr || model_.at(transpose->inputs[1]).ints() == nullptr) continue;
      const Operation* first = producer(uses, transpose->inputs[0], OperationCode::RESHAPE);
      if (first == nullptr) continue;
      const auto shuffle = shuffle_of(*first, *transpose, last);
      if (!shuffle) continue;
      last.code = OperationCode::CHANNEL_SHUFFLE;
      last.inputs = {first->inputs[0], builder_.int32(shuffle->groups),
                     builder_.int32(static_cast<int64_t>(shuffle->axis))};
    }
  }

  void fold() {
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation shuffle = model_.operations[i];
      if (shuffle.code != OperationCode::CHANNEL_SHUFFLE || !is_along_channels(shuffle)) continue;
      const Uses uses(model_);
      const bool is_shuffled_before = fold_into_producer(uses, shuffle);
      if (is_shuffled_before) model_.at(shuffle.inputs[0]).name = model_.at(shuffle.outputs[0]).name;
      if (is_shuffled_before || fold_into_readers(shuffle)) {
        replace_reads(model_, shuffle.outputs[0], shuffle.inputs[0]);
        model_.operations.erase(model_.operations.begin() + static_cast<std::ptrdiff_t>(i--));
      }
    }
  }

  void write_out() {
    std::vector<Operation> operations = std::move(model_.operations);
    model_.operations.clear();
    for (Operation& operation : operations) {
      if (operation.code != OperationCode::CHANNEL_SHUFFLE) {
        model_.operations.push_back(std::move(operation));
        continue;
      }
      builder_.set_source(operation.source);
      write_out(operation);
    }
  }

 private:
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }

  const Operation* producer(const Uses& uses, OperandId id, OperationCode code) const {
    const int index = uses.producer[static_cast<size_t>(id)];
    if (index < 0 || uses.readers[static_cast<size_t>(id)] != 1) return nullptr;
    const Operation& found = model_.operations[static_cast<size_t>(index)];
    return found.code == code ? &found : nullptr;
  }

  // Returns the shuffle if a TRANSPOSE between RESHAPEs exchanges two neighbouring parts of one axis of the source.
  std::optional<Shuffle> shuffle_of(const Operation& first, const Operation& transpose, const Operation& last) const {
    const Dims& source = dims(first.inputs[0]);
    if (source != dims(last.outputs[0])) return std::nullopt;
    Dims parts;
    std::vector<size_t> numbers(dims(transpose.inputs[0]).size());  // numbers of the parts whose size is not 1
    for (size_t axis = 0; axis < numbers.size(); ++axis) {
      numbers[axis] = parts.size();
      if (dims(transpose.inputs[0])[axis] != Dim(1)) parts.push_back(dims(transpose.inputs[0])[axis]);
    }
    std::vector<size_t> order;
    for (const int64_t axis : fixed_values(*model_.at(transpose.inputs[1]).ints())) {
      if (dims(transpose.inputs[0])[static_cast<size_t>(axis)] != Dim(1)) {
        order.push_back(numbers[static_cast<size_t>(axis)]);
      }
    }
    size_t moved = 0;
    while (moved < order.size() && order[moved] == moved) ++moved;
    if (moved + 1 >= order.size() || order[moved] != moved + 1 || order[moved + 1] != moved) return std::nullopt;
    for (size_t i = moved + 2; i < order.size(); ++i) {
      if (order[i] != i) return std::nullopt;
    }
    for (size_t axis = 0; axis < source.size(); ++axis) {
      const bool is_whole =
          source[axis] == parts[moved] * parts[moved + 1] && product_of(source, 0, axis) == product_of(parts, 0, moved);
      if (is_whole) return Shuffle{parts[moved], axis};
    }
    return std::nullopt;
  }

  bool is_along_channels(const Operation& shuffle) const {
    const Dims& axis = *model_.at(shuffle.inputs[2]).ints();
    return axis[0] == Dim(1) && dims(shuffle.inputs[0]).size() == 4 && dims(shuffle.inputs[0])[1].is_fixed();
  }

  int64_t groups_of(const Operation& shuffle) const { return (*model_.at(shuffle.inputs[1]).ints())[0].value(); }

  // Returns a constant with its entries along `axis` reordered from [groups, rest] to [rest, groups].
  OperandId shuffled(OperandId id, size_t axis, int64_t groups) {
    const Operand operand = model_.at(id);
    const std::vector<int64_t> shape = operand.constant()->shape();
    int64_t before = 1, after = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i < axis) before *= shape[i];
      if (i > axis) after *= shape[i];
    }
    const Constant result = operand.constant()
                                ->then(Reshape{{before, groups, shape[axis] / groups, after}})
                                .then(Permute{{0, 2, 1, 3}})
                                .then(Reshape{shape});
    return builder_.tensor(result, operand.scale, operand.zero_point);
  }

  bool has_constant_weights(const Operation& operation) const {
    return model_.at(operation.inputs[kFilter]).constant() != nullptr &&
           model_.at(operation.inputs[kBias]).constant() != nullptr;
  }

  // Folds into the convolution before the shuffle. Elementwise operations may stand between them.
  bool fold_into_producer(const Uses& uses, const Operation& shuffle) {
    OperandId id = shuffle.inputs[0];
    for (;;) {
      const int index = uses.producer[static_cast<size_t>(id)];
      if (index < 0 || uses.readers[static_cast<size_t>(id)] != 1) return false;
      Operation& operation = model_.operations[static_cast<size_t>(index)];
      if (operation.code == OperationCode::CONV_2D || operation.code == OperationCode::TRANSPOSE_CONV_2D) {
        if (!has_constant_weights(operation)) return false;
        operation.inputs[kFilter] = shuffled(operation.inputs[kFilter], 0, groups_of(shuffle));
        operation.inputs[kBias] = shuffled(operation.inputs[kBias], 0, groups_of(shuffle));
        return true;
      }
      if (!has_trait(operation.code, OperationTrait::kElementwise) || operation.inputs.size() != 1) return false;
      id = operation.inputs[0];
    }
  }

  // Folds into the convolutions after the shuffle: they then read their input's channels in the old order.
  bool fold_into_readers(const Operation& shuffle) {
    std::vector<Operation*> readers;
    for (Operation& operation : model_.operations) {
      if (std::count(operation.inputs.begin(), operation.inputs.end(), shuffle.outputs[0]) == 0) continue;
      const bool takes = operation.code == OperationCode::CONV_2D && operation.inputs[0] == shuffle.outputs[0] &&
                         has_constant_weights(operation);
      if (!takes) return false;
      readers.push_back(&operation);
    }
    for (const Boundary& output : model_.outputs) {
      if (output.operand == shuffle.outputs[0]) return false;
    }
    const int64_t groups = dims(shuffle.inputs[0])[1].value() / groups_of(shuffle);  // the way back
    for (Operation* reader : readers) reader->inputs[kFilter] = shuffled(reader->inputs[kFilter], 3, groups);
    return !readers.empty();
  }

  OperandId moved(OperationCode code, OperandId id, const Dims& argument, const Dims& to) {
    Operand type = model_.at(id);
    type.dims = to;
    return builder_.add(code, {id, builder_.int32_tensor(argument)}, type);
  }

  void write_out(const Operation& shuffle) {
    const Dims from = dims(shuffle.inputs[0]);
    const auto axis = static_cast<size_t>((*model_.at(shuffle.inputs[2]).ints())[0].value());
    const Dim groups = (*model_.at(shuffle.inputs[1]).ints())[0];
    const Dim before = product_of(from, 0, axis);
    const Dim rest = *from[axis].exact_div(groups);
    const Dim after = product_of(from, axis + 1, from.size());
    const Dims parts{before, groups, rest, after};
    const OperandId split = moved(OperationCode::RESHAPE, shuffle.inputs[0], parts, parts);
    const OperandId exchanged = moved(OperationCode::TRANSPOSE, split, {0, 2, 1, 3}, {before, rest, groups, after});
    model_.operations.push_back(
        {OperationCode::RESHAPE, {exchanged, builder_.int32_tensor(from)}, shuffle.outputs, shuffle.source});
  }

  Model& model_;
  Builder builder_;
};

}  // namespace

void shuffle_channels(Model& model, int feature_level) {
  Shuffler shuffler(model);
  shuffler.recognise();
  drop_unread(model);
  shuffler.fold();
  if (feature_level < kChannelShuffleLevel) shuffler.write_out();
}

}  // namespace nnapi_convert::nnapi
