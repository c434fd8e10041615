// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/reshape_as_floats.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/nnapi/builder.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kReshapesIntegersFrom = 6;  // a feature level
constexpr int kCalculatesWithIntegersFrom = 4;
constexpr int64_t kMostInFloat32 = int64_t{1} << 24;
constexpr int64_t kHalf = 1 << 12;           // splits an integer into a quotient and a rest that float32 both holds
constexpr int64_t kLargestOneNumber = 4096;  // most elements of a stored constant; larger ones are made by TILE

bool is_small(int64_t number) {
  return number >= -kMostInFloat32 && number <= kMostInFloat32;
}

bool holds_small_numbers(const Operand& operand) {
  if (const Dims* numbers = operand.ints()) {
    return std::all_of(numbers->begin(), numbers->end(),
                       [](const Dim& number) { return number.is_fixed() && is_small(number.value()); });
  }
  const Constant* constant = operand.constant();
  if (constant == nullptr || constant->type() != DataType::kInt32) return false;
  const std::vector<uint8_t> bytes = constant->bytes();
  for (size_t at = 0; at < bytes.size(); at += sizeof(int32_t)) {
    int32_t number = 0;
    std::memcpy(&number, &bytes[at], sizeof number);
    if (!is_small(number)) return false;
  }
  return true;
}

class FloatReshaper {
 public:
  FloatReshaper(Model& model, int feature_level) : model_(model), builder_(model), feature_level_(feature_level) {}

  void run() {
    const std::vector<Operation> operations = std::exchange(model_.operations, {});
    remember_readers(operations);
    for (const Operation& operation : operations) {
      builder_.set_source(operation.source);
      if (operation.code != OperationCode::RESHAPE || !reshape(operation)) model_.operations.push_back(operation);
      remember_producer();
    }
  }

 private:
  const Operand& at(OperandId id) const { return model_.at(id); }

  void remember_readers(const std::vector<Operation>& operations) {
    casts_only_.assign(model_.operands.size(), true);
    producer_.assign(model_.operands.size(), -1);
    for (const Operation& operation : operations) {
      for (const OperandId id : operation.inputs) {
        const bool is_to_float =
            operation.code == OperationCode::CAST && at(operation.outputs[0]).type == OperandCode::TENSOR_FLOAT32;
        if (!is_to_float) casts_only_[static_cast<size_t>(id)] = false;
      }
    }
    for (const Boundary& output : model_.outputs) casts_only_[static_cast<size_t>(output.operand)] = false;
  }

  // Notes the results of the operations that were appended since the last call.
  void remember_producer() {
    producer_.resize(model_.operands.size(), -1);
    for (; remembered_ < model_.operations.size(); ++remembered_) {
      for (const OperandId id : model_.operations[remembered_].outputs) {
        producer_[static_cast<size_t>(id)] = static_cast<int>(remembered_);
      }
    }
  }

  // Appends operations on float32 with the same result; false if RESHAPE takes the tensor itself, or if no such
  // operations exist.
  bool reshape(const Operation& move) {
    const OperandCode type = at(move.inputs[0]).type;
    if (type == OperandCode::TENSOR_BOOL8) return reshape_bools(move);
    if (type != OperandCode::TENSOR_INT32 || feature_level_ >= kReshapesIntegersFrom) return false;
    // True if only CASTs to float32 read the result: they round the integers anyway.
    const bool is_rounded = casts_only_[static_cast<size_t>(move.outputs[0])];
    if (is_rounded || is_exact(move.inputs[0])) return reshape_integers(move);
    if (feature_level_ < kCalculatesWithIntegersFrom) return false;
    return reshape_in_halves(move);
  }

  Operand as(OperandCode type, const Dims& dims) const { return {type, dims, 0, 0, {}}; }
  Operand floats(const Dims& dims) const { return as(OperandCode::TENSOR_FLOAT32, dims); }
  Operand integers(const Dims& dims) const { return as(OperandCode::TENSOR_INT32, dims); }

  // Returns a tensor that holds one number in all elements.
  OperandId filled(float number, const Dims& dims) {
    const Dim count = product(dims);
    if (count.is_fixed() && count.value() <= kLargestOneNumber) {
      const std::vector<float> values(static_cast<size_t>(count.value()), number);
      return builder_.tensor(Constant::of_floats(values, fixed_values(dims)));
    }
    const OperandId one = builder_.tensor(Constant::of_floats({number}, std::vector<int64_t>(dims.size(), 1)));
    return builder_.add(OperationCode::TILE, {one, builder_.int32_tensor(dims)}, floats(dims));
  }

  OperandId reshaped(OperandId id, const Operation& move) {
    const Dims dims = at(move.outputs[0]).dims;
    return builder_.add(OperationCode::RESHAPE, {id, builder_.int32_tensor(dims)}, floats(dims));
  }

  bool reshape_bools(const Operation& move) {
    const Dims dims = at(move.inputs[0]).dims;
    const OperandId numbers =
        builder_.add(OperationCode::SELECT, {move.inputs[0], filled(1, dims), filled(0, dims)}, floats(dims));
    const OperandId moved = reshaped(numbers, move);
    const OperandId zero = builder_.tensor(Constant::of_floats({0}));
    model_.operations.push_back({OperationCode::NOT_EQUAL, {moved, zero}, move.outputs, move.source});
    return true;
  }

  OperandId cast_to_float(OperandId id) { return builder_.add(OperationCode::CAST, {id}, floats(at(id).dims)); }

  bool reshape_integers(const Operation& move) {
    const OperandId moved = reshaped(cast_to_float(move.inputs[0]), move);
    model_.operations.push_back({OperationCode::CAST, {moved}, move.outputs, move.source});
    return true;
  }

  OperandId arithmetic(OperationCode code, OperandId a, OperandId b) {
    const OperandId activation = builder_.int32(static_cast<int64_t>(FuseCode::NONE));
    return builder_.add(code, {a, b, activation}, integers(at(a).dims));
  }

  OperandId moved_integers(OperandId id, const Operation& move) {
    const OperandId moved = reshaped(cast_to_float(id), move);
    return builder_.add(OperationCode::CAST, {moved}, integers(at(moved).dims));
  }

  // Reshapes the quotient and the rest of each integer by kHalf. DIV of integers rounds down, so that the rest isn't
  // negative.
  bool reshape_in_halves(const Operation& move) {
    const OperandId x = move.inputs[0];
    const OperandId half = builder_.int32_tensor({Dim(kHalf)});
    const OperandId high = arithmetic(OperationCode::DIV, x, half);
    const OperandId low = arithmetic(OperationCode::SUB, x, arithmetic(OperationCode::MUL, high, half));
    const OperandId upper = arithmetic(OperationCode::MUL, moved_integers(high, move), half);
    const OperandId lower = moved_integers(low, move);
    const OperandId activation = builder_.int32(static_cast<int64_t>(FuseCode::NONE));
    model_.operations.push_back({OperationCode::ADD, {upper, lower, activation}, move.outputs, move.source});
    return true;
  }

  bool are_exact(const std::vector<OperandId>& ids, size_t begin, size_t end) const {
    return std::all_of(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.begin() + static_cast<std::ptrdiff_t>(end),
                       [this](OperandId id) { return is_exact(id); });
  }

  // True if float32 can hold all integers of the operand exactly.
  bool is_exact(OperandId id) const {
    const Operand& operand = at(id);
    if (operand.is_constant()) return holds_small_numbers(operand);
    const int producer = static_cast<size_t>(id) < producer_.size() ? producer_[static_cast<size_t>(id)] : -1;
    if (producer < 0) return false;
    const Operation& operation = model_.operations[static_cast<size_t>(producer)];
    const std::vector<OperandId>& inputs = operation.inputs;
    switch (operation.code) {
      case OperationCode::CAST:
        return at(inputs[0]).type != OperandCode::TENSOR_INT32 || is_exact(inputs[0]);
      case OperationCode::ARGMAX:
      case OperationCode::ARGMIN:
      case OperationCode::TOPK_V2: {
        const Dim count = product(at(inputs[0]).dims);
        const bool are_indices = id == operation.outputs.back();
        return are_indices ? count.is_fixed() && count.value() <= kMostInFloat32 : is_exact(inputs[0]);
      }
      case OperationCode::SELECT:
        return are_exact(inputs, 1, 3);
      case OperationCode::MAXIMUM:
      case OperationCode::MINIMUM:
        return are_exact(inputs, 0, 2);
      case OperationCode::CONCATENATION:
        return are_exact(inputs, 0, inputs.size() - 1);
      case OperationCode::NEG:
      case OperationCode::ABS:
      case OperationCode::GATHER:
      case OperationCode::SLICE:
      case OperationCode::TILE:
      case OperationCode::RESHAPE:
      case OperationCode::EXPAND_DIMS:
      case OperationCode::SPLIT:
      case OperationCode::REDUCE_MAX:
      case OperationCode::REDUCE_MIN:
        return is_exact(inputs[0]);
      default:
        return false;
    }
  }

  Model& model_;
  Builder builder_;
  int feature_level_;
  std::vector<bool> casts_only_;  // by operand: only CASTs to float32 read it
  std::vector<int> producer_;     // by operand: the operation that writes it, or -1
  size_t remembered_ = 0;         // how many operations are in producer_
};

}  // namespace

void reshape_as_floats(Model& model, int feature_level) {
  FloatReshaper(model, feature_level).run();
}

}  // namespace nnapi_convert::nnapi
