// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fold_input_affine.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/affine.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/convolution_inputs.h"
#include "lib/nnapi/passes/known_arguments.h"
#include "lib/nnapi/signature.h"

namespace nnapi_convert::nnapi {
namespace {

// An operation that is folded, and its reader.
struct Folded {
  Operation* operation;
  size_t variable;     // the number of the input that isn't the constant
  size_t axis;         // the axis of the channels
  OperandId* read_by;  // the input of the next operation that reads the result
};

// The operation x * factors + addends for each channel.
struct Affine {
  std::vector<double> factors, addends;
  std::vector<Folded> operations = {};  // the last one comes first

  bool adds() const {
    return std::any_of(addends.begin(), addends.end(), [](double addend) { return addend != 0; });
  }
  bool can_divide() const {
    return std::none_of(factors.begin(), factors.end(), [](double factor) { return factor == 0; });
  }
};

size_t rank_of(const Model& model, OperandId id) {
  return model.at(id).dims.size();
}

// Returns the number of channels that an operation with constant float weights reads; 0 for other operations.
size_t input_channels(const Model& model, const Operation& operation) {
  const bool is_linear = operation.code == OperationCode::FULLY_CONNECTED;
  if (!is_linear && operation.code != OperationCode::CONV_2D) return 0;
  const Operand& filter = model.at(operation.inputs[kFilter]);
  const bool has_weights = filter.constant() != nullptr && model.at(operation.inputs[kBias]).constant() != nullptr &&
                           filter.type == OperandCode::TENSOR_FLOAT32;
  if (!has_weights) return 0;
  const auto channels = static_cast<size_t>(filter.constant()->shape().back());
  const Dims& dims = model.at(operation.inputs[0]).dims;
  // A FULLY_CONNECTED may also read several axes as one.
  const bool fits =
      is_linear ? dims.size() > 1 && dims.back() == Dim(static_cast<int64_t>(channels)) : dims.size() == 4;
  return fits ? channels : 0;
}

// Returns the axis of the channels in the operation's input if the operation only moves elements; `axis` is their axis
// in its result. Nothing for other operations.
std::optional<size_t> axis_before(const Model& model, const Operation& operation, size_t axis) {
  if (operation.code == OperationCode::TRANSPOSE) {
    const Dims* order = model.at(operation.inputs[1]).ints();
    if (order == nullptr) return std::nullopt;
    return static_cast<size_t>((*order)[axis].value());
  }
  if (operation.code == OperationCode::GATHER) {
    const Dims* along = model.at(operation.inputs[1]).ints();
    const bool keeps =
        along != nullptr && (*along)[0] == Dim(0) && axis > 0 && model.at(operation.inputs[2]).dims.size() == 1;
    return keeps ? std::optional(axis) : std::nullopt;
  }
  if (operation.code != OperationCode::RESHAPE) return std::nullopt;
  const Dims &before = model.at(operation.inputs[0]).dims, &after = model.at(operation.outputs[0]).dims;
  const bool keeps_last = axis + 1 == after.size() && !before.empty() && before.back() == after.back();
  return keeps_last ? std::optional(before.size() - 1) : std::nullopt;
}

// Puts the operation before the affine's others. Returns false for operations that don't fit.
bool prepend(const Model& model, const Folded& folded, Affine& affine) {
  const Operation& operation = *folded.operation;
  const bool constant_first = folded.variable == 1;
  const Dims& dims = model.at(operation.inputs[folded.variable]).dims;
  const auto values = per_channel_values(model.at(operation.inputs[1 - folded.variable]), dims.size(),
                                         affine.factors.size(), folded.axis);
  if (!values || dims != model.at(operation.outputs[0]).dims) return false;
  for (size_t i = 0; i < values->size(); ++i) {
    const double value = (*values)[i];
    double &factor = affine.factors[i], &addend = affine.addends[i];
    if (operation.code == OperationCode::MUL) {
      factor *= value;
    } else {
      const bool subtracts = operation.code == OperationCode::SUB && !constant_first;
      addend += factor * (subtracts ? -value : value);
      if (operation.code == OperationCode::SUB && constant_first) factor = -factor;
    }
  }
  affine.operations.push_back(folded);
  return true;
}

// Returns the MULs, ADDs and SUBs before the reader as one Affine, across TRANSPOSEs and RESHAPEs, if nothing else
// reads their results.
Affine affine_before(Model& model, const Uses& uses, Operation& reader, size_t channels) {
  Affine affine{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  OperandId* read_by = &reader.inputs[0];
  size_t axis = reader.code == OperationCode::FULLY_CONNECTED ? rank_of(model, *read_by) - 1 : 1;
  for (;;) {
    const auto at = static_cast<size_t>(*read_by);
    if (uses.producer[at] < 0 || uses.readers[at] != 1) return affine;
    Operation& operation = model.operations[static_cast<size_t>(uses.producer[at])];
    size_t variable = 0;
    if (const auto before = axis_before(model, operation, axis)) {
      axis = *before;
    } else {
      variable = is_affine(model, operation) && model.at(operation.inputs[0]).is_constant() ? 1 : 0;
      if (!is_affine(model, operation) || !prepend(model, {&operation, variable, axis, read_by}, affine)) return affine;
    }
    read_by = &operation.inputs[variable];
  }
}

// Returns whether the operation reads zeros beyond its input's borders.
bool may_pad(const Model& model, const Operation& operation) {
  if (operation.code == OperationCode::FULLY_CONNECTED) return false;
  const SignatureMatch match = match_signature(model, operation);
  if (match.signature == nullptr || std::string(match.signature->name) != "explicit_padding") return true;
  const auto first = operation.inputs.begin() + kFirstPadding;
  return !std::all_of(first, first + 4, [&](OperandId number) { return is_number(model, number, 0); });
}

// Returns for each output the sum of its weights times the addends of the channels that they read.
std::vector<float> added_to_outputs(const Constant& filter, const std::vector<double>& addends) {
  const std::vector<float> weights = filter.floats();
  const auto outputs = static_cast<size_t>(filter.shape().front());
  const size_t each = weights.size() / outputs, channels = addends.size();
  std::vector<float> sums(outputs);
  for (size_t output = 0; output < outputs; ++output) {
    double sum = 0;
    for (size_t i = 0; i < each; ++i) sum += weights[output * each + i] * addends[i % channels];
    sums[output] = static_cast<float>(sum);
  }
  return sums;
}

std::shared_ptr<const std::vector<float>> as_floats(const std::vector<double>& values) {
  return std::make_shared<const std::vector<float>>(values.begin(), values.end());
}

void fold_into(Model& model, Operation& reader, const Affine& affine) {
  Builder builder(model);
  const Constant filter = *model.at(reader.inputs[kFilter]).constant();
  const Constant bias = *model.at(reader.inputs[kBias]).constant();
  if (affine.adds()) {
    auto sums = std::make_shared<const std::vector<float>>(added_to_outputs(filter, affine.addends));
    reader.inputs[kBias] = builder.tensor(bias.then(AddVector{sums}));
  }
  const auto axis = static_cast<int64_t>(filter.shape().size()) - 1;
  reader.inputs[kFilter] = builder.tensor(filter.then(ScaleAxis{axis, as_floats(affine.factors)}));
  for (auto folded = affine.operations.rbegin(); folded != affine.operations.rend(); ++folded) {
    *folded->read_by = folded->operation->inputs[folded->variable];
  }
}

// Folds the MULs into the reader, and makes the last operation before it an ADD of the addends.
void leave_add(Model& model, Operation& reader, Affine affine) {
  std::vector<double> shifts(affine.addends.size());
  for (size_t i = 0; i < shifts.size(); ++i) shifts[i] = affine.addends[i] / affine.factors[i];
  std::fill(affine.addends.begin(), affine.addends.end(), 0);
  const Folded last = affine.operations.front();
  affine.operations.erase(affine.operations.begin());
  fold_into(model, reader, affine);
  std::vector<int64_t> shape(rank_of(model, last.operation->outputs[0]), 1);
  shape[last.axis] = static_cast<int64_t>(shifts.size());
  Builder builder(model);
  const OperandId addend = builder.tensor(Constant::of_floats(*as_floats(shifts), shape));
  last.operation->code = OperationCode::ADD;
  last.operation->inputs = {last.operation->inputs[last.variable], addend,
                            builder.int32(static_cast<int64_t>(FuseCode::NONE))};
}

// Gives each FULLY_CONNECTED its own copy of MULs and ADDs that several of them read, such as the linear layers behind
// a norm, if all copies can be folded.
class SharedAffine {
 public:
  explicit SharedAffine(Model& model) : model_(model), uses_(model), readers_(readers_of(model)) {}

  // Copies an operation if each of its readers is a layer, or can be folded into a layer that alone reads it. Returns
  // whether it copied any.
  bool separate() {
    const std::vector<Operation> operations = std::exchange(model_.operations, {});
    std::unordered_map<size_t, OperandId> own_inputs;  // by the number of the reader
    for (size_t i = 0; i < operations.size(); ++i) {
      Operation operation = operations[i];
      const auto own = own_inputs.find(i);
      if (own != own_inputs.end()) operation.inputs[variable_of(operation)] = own->second;
      model_.operations.push_back(operation);
      if (!is_shared(operations, operation)) continue;
      const std::vector<size_t>& readers = readers_[static_cast<size_t>(operation.outputs[0])];
      for (size_t reader = 1; reader < readers.size(); ++reader) {
        Operation copy = operation;
        copy.outputs[0] = model_.add(Operand(model_.at(operation.outputs[0])));
        own_inputs[readers[reader]] = copy.outputs[0];
        model_.operations.push_back(copy);
      }
    }
    return !own_inputs.empty();
  }

 private:
  size_t variable_of(const Operation& operation) const { return model_.at(operation.inputs[0]).is_constant() ? 1 : 0; }

  bool can_fold(const Operation& operation) const {
    const Dims& dims = model_.at(operation.outputs[0]).dims;
    if (!is_affine(model_, operation) || dims.empty() || !dims.back().is_fixed()) return false;
    const auto channels = static_cast<size_t>(dims.back().value());
    Affine affine{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
    Operation copy = operation;
    return prepend(model_, {&copy, variable_of(operation), dims.size() - 1, nullptr}, affine);
  }

  bool is_layer(const Operation& operation) const {
    return operation.code == OperationCode::FULLY_CONNECTED && input_channels(model_, operation) != 0;
  }

  // Returns whether the operation is a layer, or can be folded and has one reader of which the same is true.
  bool ends_in_layer(const std::vector<Operation>& operations, const Operation& operation) const {
    if (is_layer(operation)) return true;
    const auto result = static_cast<size_t>(operation.outputs[0]);
    const bool has_one = uses_.readers[result] == 1 && readers_[result].size() == 1;
    return has_one && can_fold(operation) && ends_in_layer(operations, operations[readers_[result][0]]);
  }

  bool is_shared(const std::vector<Operation>& operations, const Operation& operation) const {
    if (operation.outputs.size() != 1) return false;
    const auto result = static_cast<size_t>(operation.outputs[0]);
    const std::vector<size_t>& readers = readers_[result];
    return readers.size() > 1 && uses_.readers[result] == static_cast<int>(readers.size()) && can_fold(operation) &&
           std::all_of(readers.begin(), readers.end(),
                       [&](size_t reader) { return ends_in_layer(operations, operations[reader]); });
  }

  Model& model_;
  const Uses uses_;
  const std::vector<std::vector<size_t>> readers_;
};

}  // namespace

void fold_input_affine(Model& model) {
  // After a round, the operation before a copied one has several readers, and is copied in the next round. Copies have
  // one reader each, so that this ends.
  while (SharedAffine(model).separate()) {
  }
  const Uses uses(model);
  for (Operation& operation : model.operations) {
    const size_t channels = input_channels(model, operation);
    if (channels == 0) continue;
    const Affine affine = affine_before(model, uses, operation, channels);
    if (affine.operations.empty()) continue;
    if (!affine.adds() || !may_pad(model, operation)) {
      fold_into(model, operation, affine);
    } else if (affine.operations.size() > 1 && affine.can_divide()) {
      leave_add(model, operation, affine);
    }
  }
  drop_unread(model);
}

}  // namespace nnapi_convert::nnapi
