// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/gather_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/insertions.h"
#include "lib/nnapi/passes/merge_moves.h"
#include "lib/nnapi/passes/moves.h"
#include "lib/nnapi/passes/whole_rows.h"
#include "lib/nnapi/permutation.h"

namespace nnapi_convert::nnapi {
namespace {

constexpr int kGatherLevel = 3;
constexpr size_t kLongWay = 6;          // operations; shorter ways stay, as TRANSPOSE is the plainer operation
constexpr size_t kShortWay = 2;         // enough if a long way moves as many rows of the same width
constexpr int64_t kMostRows = 1 << 16;  // the model holds a number for each row
constexpr int64_t kNarrowestRow = 8;
constexpr int64_t kMostElements = 1 << 21;  // in a way that cuts rows and joins them again: each element is followed

// The numbers of the base's rows that a tensor holds, in order. `sizes` are the tensor's sizes, the last one counted in
// rows.
struct RowNumbers {
  std::vector<int64_t> sizes;
  std::vector<int32_t> numbers;
};

// Calls `function` with each index of a tensor of these sizes, in order.
template <typename Function>
void for_each_index(const std::vector<int64_t>& sizes, const Function& function) {
  std::vector<int64_t> index(sizes.size(), 0);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  for (;;) {
    function(index);
    size_t axis = sizes.size();
    while (axis > 0 && ++index[axis - 1] == sizes[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

int64_t offset(const std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  int64_t result = 0;
  for (size_t i = 0; i < sizes.size(); ++i) result = result * sizes[i] + index[i];
  return result;
}

// Follows the moves and slices that make a tensor back to the one operand (the base) at their beginning.
class Way {
 public:
  Way(const Model& model, const Uses& uses) : model_(model), uses_(uses) {}

  // Finds the base and the operations; false if the way begins at several operands.
  bool follow(OperandId id) {
    const Operation* operation = way_to(id);
    if (operation == nullptr) {
      if (base && *base != id) return false;
      base = id;
      return true;
    }
    if (!operations.insert(static_cast<size_t>(uses_.producer[static_cast<size_t>(id)])).second) return true;
    const size_t count = operation->code == OperationCode::CONCATENATION ? operation->inputs.size() - 1 : 1;
    return std::all_of(operation->inputs.begin(), operation->inputs.begin() + static_cast<std::ptrdiff_t>(count),
                       [this](OperandId input) { return follow(input); });
  }

  // Returns the rows of the base that the operand holds; nothing if parts of rows move. Call follow first.
  std::optional<RowNumbers> rows_of(OperandId id) {
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    const Operation* operation = way_to(id);
    const std::optional<RowNumbers> rows = operation == nullptr ? all_rows(id) : moved(*operation);
    if (rows) known_.emplace(id, *rows);
    return rows;
  }

  std::optional<OperandId> base;
  std::set<size_t> operations;  // the numbers of the operations on the way

  static bool is_way(OperationCode code) {
    return code == OperationCode::RESHAPE || code == OperationCode::TRANSPOSE || code == OperationCode::STRIDED_SLICE ||
           code == OperationCode::CONCATENATION;
  }

 private:
  // Returns the operation of the way that makes the operand; null for the base.
  const Operation* way_to(OperandId id) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    const Operation* operation = index < 0 ? nullptr : &model_.operations[static_cast<size_t>(index)];
    return operation != nullptr && is_way(operation->code) ? operation : nullptr;
  }

  std::optional<RowNumbers> all_rows(OperandId id) {
    const Dims& dims = model_.at(id).dims;
    if (dims.size() < 2 || !all_fixed(dims)) return std::nullopt;
    RowNumbers rows{fixed_values(dims), {}};
    width_ = rows.sizes.back();
    rows.sizes.back() = 1;
    const int64_t count = product(to_dims(rows.sizes)).value();
    if (count > kMostRows || width_ < kNarrowestRow) return std::nullopt;
    for (int64_t i = 0; i < count; ++i) rows.numbers.push_back(static_cast<int32_t>(i));
    return rows;
  }

  // Returns the sizes of an operand, the last one counted in rows; nothing if rows are cut.
  std::optional<std::vector<int64_t>> sizes_in_rows(OperandId id) const {
    const Dims& dims = model_.at(id).dims;
    if (dims.empty() || !all_fixed(dims)) return std::nullopt;
    std::vector<int64_t> sizes = fixed_values(dims);
    if (sizes.back() % width_ != 0) return std::nullopt;
    sizes.back() /= width_;
    return sizes;
  }

  std::optional<std::vector<int64_t>> numbers(OperandId id) const {
    const Dims* values = model_.at(id).ints();
    return values != nullptr && all_fixed(*values) ? std::optional(fixed_values(*values)) : std::nullopt;
  }

  std::optional<RowNumbers> moved(const Operation& operation) {
    if (operation.code == OperationCode::CONCATENATION) return joined(operation);
    const auto from = rows_of(operation.inputs[0]);
    const auto sizes = from ? sizes_in_rows(operation.outputs[0]) : std::nullopt;
    if (!sizes) return std::nullopt;
    if (operation.code == OperationCode::RESHAPE) return RowNumbers{*sizes, from->numbers};
    return operation.code == OperationCode::TRANSPOSE ? transposed(operation, *from, *sizes)
                                                      : sliced(operation, *from, *sizes);
  }

  std::optional<RowNumbers> transposed(const Operation& operation, const RowNumbers& from,
                                       const std::vector<int64_t>& sizes) const {
    const auto order = operation.inputs.size() == 2 ? numbers(operation.inputs[1]) : std::nullopt;
    if (!order || order->back() + 1 != static_cast<int64_t>(order->size())) return std::nullopt;
    RowNumbers result{sizes, {}};
    const std::vector<int64_t> back = inverse(*order);
    for_each_index(sizes, [&](const std::vector<int64_t>& index) {
      result.numbers.push_back(from.numbers[static_cast<size_t>(offset(permute(index, back), from.sizes))]);
    });
    return result;
  }

  std::optional<RowNumbers> sliced(const Operation& operation, const RowNumbers& from,
                                   const std::vector<int64_t>& sizes) const {
    const auto begin = numbers(operation.inputs[1]), strides = numbers(operation.inputs[3]);
    for (size_t mask = 4; mask < 7; ++mask) {
      if (numbers(operation.inputs[mask]) != std::vector<int64_t>{0}) return std::nullopt;
    }
    const bool keeps_rows = begin && strides && sizes.size() == from.sizes.size() &&
                            sizes.back() == from.sizes.back() && begin->back() == 0 && strides->back() == 1;
    if (!keeps_rows || std::any_of(begin->begin(), begin->end(), [](int64_t first) { return first < 0; })) {
      return std::nullopt;
    }
    RowNumbers result{sizes, {}};
    for_each_index(sizes, [&](std::vector<int64_t> index) {
      for (size_t i = 0; i < index.size(); ++i) index[i] = (*begin)[i] + index[i] * (*strides)[i];
      result.numbers.push_back(from.numbers[static_cast<size_t>(offset(index, from.sizes))]);
    });
    return result;
  }

  std::optional<RowNumbers> joined(const Operation& operation) {
    const auto axis = numbers(operation.inputs.back());
    std::vector<RowNumbers> parts;
    for (size_t i = 0; i + 1 < operation.inputs.size(); ++i) {
      const auto part = rows_of(operation.inputs[i]);
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    const auto sizes = sizes_in_rows(operation.outputs[0]);
    if (!axis || !sizes) return std::nullopt;
    const auto along =
        static_cast<size_t>((*axis)[0] < 0 ? (*axis)[0] + static_cast<int64_t>(sizes->size()) : (*axis)[0]);
    RowNumbers result{*sizes, {}};
    for_each_index(*sizes, [&](std::vector<int64_t> index) {
      size_t part = 0;
      for (; index[along] >= parts[part].sizes[along]; ++part) index[along] -= parts[part].sizes[along];
      result.numbers.push_back(parts[part].numbers[static_cast<size_t>(offset(index, parts[part].sizes))]);
    });
    return result;
  }

  const Model& model_;
  const Uses& uses_;
  int64_t width_ = 1;  // elements of a row
  std::map<OperandId, RowNumbers> known_;
};

class Gathering {
 public:
  explicit Gathering(Model& model) : model_(model), builder_(model), uses_(model) {
    readers_.resize(model.operands.size());
    for (size_t i = 0; i < model.operations.size(); ++i) {
      for (const OperandId id : model.operations[i].inputs) readers_[static_cast<size_t>(id)].push_back(i);
    }
  }

  void run() {
    std::set<size_t> replaced;  // the numbers of the ways' last operations
    for (const size_t fewest : {kLongWay, kShortWay}) {
      for (size_t i = 0; i < model_.operations.size(); ++i) {
        if (is_end(i) && replaced.count(i) == 0 && add_gather(i, fewest)) replaced.insert(i);
      }
    }
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      if (is_end(i) && replaced.count(i) == 0 && add_gather_of_moves(i)) replaced.insert(i);
    }
    if (replaced.empty()) return;
    for (const size_t last : replaced) model_.operations[last].outputs.clear();
    gathers_.apply(model_);
    drop_unread(model_);
    merge_moves(model_);
  }

 private:
  bool is_linear(size_t operation) const { return model_.operations[operation].code == OperationCode::FULLY_CONNECTED; }

  // True for the last operation of a way.
  bool is_end(size_t index) const {
    const Operation& operation = model_.operations[index];
    if (!Way::is_way(operation.code)) return false;
    const Operand& result = model_.at(operation.outputs[0]);
    if (result.type != OperandCode::TENSOR_FLOAT32 && result.type != OperandCode::TENSOR_QUANT8_ASYMM) return false;
    const auto& readers = readers_[static_cast<size_t>(operation.outputs[0])];
    return std::any_of(readers.begin(), readers.end(),
                       [&](size_t reader) { return !Way::is_way(model_.operations[reader].code); });
  }

  // Counts the operations of the way that nothing else reads.
  size_t only_on_way(const std::set<size_t>& way, size_t end) const {
    return static_cast<size_t>(std::count_if(way.begin(), way.end(), [&](size_t index) {
      const auto result = static_cast<size_t>(model_.operations[index].outputs[0]);
      return index == end || (static_cast<size_t>(uses_.readers[result]) == readers_[result].size() &&
                              std::all_of(readers_[result].begin(), readers_[result].end(),
                                          [&](size_t reader) { return way.count(reader) != 0; }));
    }));
  }

  bool touches_linear_layer(OperandId base, OperandId result) const {
    const int producer = uses_.producer[static_cast<size_t>(base)];
    if (producer >= 0 && is_linear(static_cast<size_t>(producer))) return true;
    const auto& readers = readers_[static_cast<size_t>(result)];
    return std::all_of(readers.begin(), readers.end(), [&](size_t reader) { return is_linear(reader); });
  }

  // Adds RESHAPE, GATHER, RESHAPE for the way that ends here; returns false if the way has to stay.
  bool add_gather(size_t end, size_t fewest) {
    const Operation& last = model_.operations[end];
    const OperandId result = last.outputs[0];
    Way way(model_, uses_);
    if (!way.follow(result) || model_.at(*way.base).is_constant()) return false;
    if (only_on_way(way.operations, end) < fewest || !touches_linear_layer(*way.base, result)) return false;
    const auto rows = way.rows_of(result);
    if (!rows) return false;
    const std::pair gathered_rows(rows->numbers.size(), model_.at(*way.base).dims.back());
    if (fewest == kLongWay) gathered_.insert(gathered_rows);
    if (gathered_.count(gathered_rows) == 0) return false;
    place(end, *way.base, rows->numbers, {});
    return true;
  }

  // Returns the moves that lead to the end, the first one first, if each is read by the next one alone.
  std::vector<const Operation*> moves_to(size_t end) const {
    std::vector<const Operation*> moves;
    for (const Operation* move = &model_.operations[end]; is_move(model_, *move);) {
      moves.insert(moves.begin(), move);
      const auto input = static_cast<size_t>(move->inputs[0]);
      if (uses_.producer[input] < 0 || uses_.readers[input] != 1) break;
      move = &model_.operations[static_cast<size_t>(uses_.producer[input])];
    }
    return moves;
  }

  // Returns true for rows: a matrix, a tensor of three axes, or a sum with a linear layer's results. Other tensors of
  // four axes may be pictures.
  bool has_rows(OperandId id) const {
    if (model_.at(id).dims.size() < 4) return true;
    const int maker = uses_.producer[static_cast<size_t>(id)];
    if (maker < 0 || model_.operations[static_cast<size_t>(maker)].code != OperationCode::ADD) return false;
    const std::vector<OperandId>& terms = model_.operations[static_cast<size_t>(maker)].inputs;
    return std::any_of(terms.begin(), terms.begin() + 2, [&](OperandId term) {
      const int move = uses_.producer[static_cast<size_t>(term)];
      if (move < 0 || model_.operations[static_cast<size_t>(move)].code != OperationCode::RESHAPE) return false;
      const OperandId before = model_.operations[static_cast<size_t>(move)].inputs[0];
      const int layer = uses_.producer[static_cast<size_t>(before)];
      return layer >= 0 && is_linear(static_cast<size_t>(layer)) &&
             model_.at(before).dims.back() == model_.at(term).dims.back();
    });
  }

  // Adds a GATHER for two TRANSPOSEs or more that keep rows whole in the end, as from windows to a grid, or to a
  // picture in NHWC; returns false if the way has to stay.
  bool add_gather_of_moves(size_t end) {
    const std::vector<const Operation*> moves = moves_to(end);
    const auto transposes = std::count_if(moves.begin(), moves.end(),
                                          [](const Operation* move) { return move->code == OperationCode::TRANSPOSE; });
    if (transposes < 2) return false;
    const OperandId base = moves.front()->inputs[0];
    const Dims &before = model_.at(base).dims, &after = model_.at(model_.operations[end].outputs[0]).dims;
    const bool fits = all_fixed(before) && before.size() > 1 && before.back().value() >= kNarrowestRow &&
                      product(before).value() > 0 && product(before).value() <= kMostElements &&
                      product(before).value() / before.back().value() <= kMostRows;
    if (!fits || model_.at(base).is_constant() || !has_rows(base)) return false;
    auto rows = rows_after_moves(model_, moves, {});
    if (rows) {
      place(end, base, *rows, {});
      return true;
    }
    if (after.size() == 4) rows = rows_after_moves(model_, moves, kToNhwc);
    if (rows) place(end, base, *rows, kToNhwc);
    return rows.has_value();
  }

  // Adds RESHAPE, GATHER, RESHAPE to the result of the operation `end`. With an order, the gathered rows are the result
  // with its axes in that order, which a TRANSPOSE turns back.
  void place(size_t end, OperandId base, const std::vector<int32_t>& rows, const std::vector<int64_t>& order) {
    const Operation& last = model_.operations[end];
    const OperandId result = last.outputs[0];
    const Operand type = model_.at(base);
    const Dim width = type.dims.back();
    const auto made = [&](Dims dims) {
      Operand operand = type;
      operand.dims = std::move(dims);
      return builder_.variable(operand);
    };
    const auto add = [&](OperationCode code, std::vector<OperandId> inputs, OperandId output) {
      gathers_.add_before(end, {code, std::move(inputs), {output}, last.source});
    };
    const Dims matrix{*product(type.dims).exact_div(width), width};
    const OperandId before = made(matrix), gathered = made({Dim(static_cast<int64_t>(rows.size())), width});
    Dims numbers;
    for (const int32_t number : rows) numbers.emplace_back(number);
    add(OperationCode::RESHAPE, {base, builder_.int32_tensor(matrix)}, before);
    add(OperationCode::GATHER, {before, builder_.int32(0), builder_.int32_tensor(std::move(numbers))}, gathered);
    const Dims after = model_.at(result).dims;
    if (order.empty()) return add(OperationCode::RESHAPE, {gathered, builder_.int32_tensor(after)}, result);
    const Dims ordered = permute(after, order);
    const OperandId whole = made(ordered);
    add(OperationCode::RESHAPE, {gathered, builder_.int32_tensor(ordered)}, whole);
    add(OperationCode::TRANSPOSE, {whole, builder_.int32_tensor(to_dims(inverse(order)))}, result);
  }

  Model& model_;
  Builder builder_;
  Uses uses_;
  std::vector<std::vector<size_t>> readers_;   // by operand: the operations that read it
  std::set<std::pair<size_t, Dim>> gathered_;  // how many rows long ways move, and how wide these are
  Insertions gathers_;
};

}  // namespace

void gather_rows(Model& model, int feature_level) {
  if (feature_level >= kGatherLevel) Gathering(model).run();
}

}  // namespace nnapi_convert::nnapi
