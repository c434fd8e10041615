// SPDX-License-Identifier: BSD-3-Clause
#include "lib/nnapi/passes/fold_centring.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "lib/nnapi/builder.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/passes/convolution_inputs.h"
#include "lib/nnapi/passes/known_arguments.h"
#include "lib/nnapi/passes/moves.h"

namespace nnapi_convert::nnapi {
namespace {

// A tensor, and its axis of channels.
using Channels = std::pair<OperandId, size_t>;

class CentringFolder {
 public:
  explicit CentringFolder(Model& model) : model_(model), builder_(model), uses_(model), readers_(readers_of(model)) {
    for (const Boundary& output : model.outputs) model_outputs_.insert(output.operand);
  }

  void run() {
    std::vector<size_t> folded;
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const auto channels = centred_by(model_.operations[i]);
      if (!channels || !can_be_centred(*channels)) continue;
      find_sources(*channels);
      folded.push_back(i);
    }
    for (const size_t layer : layers_) centre_layer(model_.operations[layer]);
    for (const auto& [place, axis] : constants_) {
      OperandId& id = model_.operations[place.first].inputs[place.second];
      id = centred(id, axis);
    }
    for (const size_t i : folded)
      replace_reads(model_, model_.operations[i].outputs[0], model_.operations[i].inputs[0]);
    if (!folded.empty()) drop_unread(model_);
  }

 private:
  const Dims& dims(OperandId id) const { return model_.at(id).dims; }
  const std::vector<size_t>& readers(OperandId id) const { return readers_[static_cast<size_t>(id)]; }

  const Operation* producer(OperandId id) const {
    const int index = uses_.producer[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &model_.operations[static_cast<size_t>(index)];
  }

  // Returns the one axis that a reduction or a join names, of operands of this rank.
  std::optional<size_t> one_axis(OperandId argument, size_t rank) const {
    const Dims* axes = model_.at(argument).ints();
    if (axes == nullptr || axes->size() != 1) return std::nullopt;
    const int64_t axis = (*axes)[0].value() + ((*axes)[0].value() < 0 ? static_cast<int64_t>(rank) : 0);
    return static_cast<size_t>(axis);
  }

  // Returns the tensor that a SUB centres, and the axis: the SUB subtracts the mean of its own input along it. Nothing
  // for other operations.
  std::optional<Channels> centred_by(const Operation& operation) const {
    if (operation.code != OperationCode::SUB || !has_no_activation(model_, operation)) return std::nullopt;
    const OperandId input = operation.inputs[0];
    const Operation* mean = producer(operation.inputs[1]);
    const bool is_mean = mean != nullptr && mean->code == OperationCode::MEAN && mean->inputs[0] == input;
    if (!is_mean || readers(operation.inputs[1]).size() != 1 || model_outputs_.count(operation.inputs[1]) != 0) {
      return std::nullopt;
    }
    const auto axis = one_axis(mean->inputs[1], dims(input).size());
    const bool keeps_axes = dims(operation.inputs[1]).size() == dims(input).size();
    return axis && keeps_axes ? std::optional(Channels{input, *axis}) : std::nullopt;
  }

  // Returns whether the operation is the MEAN of a centring along this axis, or its SUB.
  bool is_centring(const Operation& operation, const Channels& channels) const {
    if (operation.code == OperationCode::SUB) return centred_by(operation) == channels;
    if (operation.code != OperationCode::MEAN) return false;
    const std::vector<size_t>& next = readers(operation.outputs[0]);
    return next.size() == 1 && centred_by(model_.operations[next[0]]) == channels;
  }

  // Returns the axis in `to` that holds the same channels, if a RESHAPE keeps them together.
  std::optional<size_t> reshaped_axis(const Dims& from, size_t axis, const Dims& to) const {
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] == from[axis] && product_after(to, i) == product_after(from, axis)) return i;
    }
    return std::nullopt;
  }

  // Returns the axis of the channels in the result of an operation that keeps them, or in its input if the axis is that
  // of the result; nothing for other operations.
  std::optional<size_t> moved_axis(const Operation& operation, size_t axis, bool to_input) const {
    const Dims &before = dims(operation.inputs[0]), &after = dims(operation.outputs[0]);
    switch (operation.code) {
      case OperationCode::RESHAPE:
        return to_input ? reshaped_axis(after, axis, before) : reshaped_axis(before, axis, after);
      case OperationCode::TRANSPOSE: {
        if (!is_move(model_, operation)) return std::nullopt;
        const std::vector<int64_t> order = order_of(model_, operation);
        if (to_input) return static_cast<size_t>(order[axis]);
        return static_cast<size_t>(std::find(order.begin(), order.end(), static_cast<int64_t>(axis)) - order.begin());
      }
      case OperationCode::GATHER: {
        const auto along = one_axis(operation.inputs[1], before.size());
        const bool keeps = along && *along != axis && dims(operation.inputs[2]).size() == 1;
        return keeps ? std::optional(axis) : std::nullopt;
      }
      case OperationCode::CONCATENATION: {
        const auto along = one_axis(operation.inputs.back(), before.size());
        return along && *along != axis ? std::optional(axis) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  // Returns whether the model's results stay the same if the tensor loses its mean along the channels.
  bool may_lose_mean(const Channels& channels) {
    const auto known = may_lose_mean_.find(channels);
    if (known != may_lose_mean_.end()) return known->second;
    const auto& next = readers(channels.first);
    const bool may = model_outputs_.count(channels.first) == 0 && !next.empty() &&
                     std::all_of(next.begin(), next.end(), [&](size_t i) { return reader_may(i, channels); });
    return may_lose_mean_[channels] = may;
  }

  bool reader_may(size_t number, const Channels& channels) {
    const Operation& reader = model_.operations[number];
    if (is_centring(reader, channels)) return true;
    const OperandId result = reader.outputs[0];
    if (reader.code == OperationCode::ADD) {
      const bool is_plain = has_no_activation(model_, reader) && dims(result) == dims(channels.first);
      return is_plain && may_lose_mean({result, channels.second});
    }
    const auto axis = moved_axis(reader, channels.second, false);
    return axis && may_lose_mean({result, *axis});
  }

  // Returns whether the layers and constants that make the tensor can be changed so that its mean along the channels is
  // 0, and nothing else reads the tensor.
  bool can_be_centred(const Channels& channels) {
    const auto known = can_be_centred_.find(channels);
    if (known != can_be_centred_.end()) return known->second;
    const bool can = may_lose_mean(channels) && (is_layer(channels) || are_inputs_centred(channels));
    return can_be_centred_[channels] = can;
  }

  bool is_layer(const Channels& channels) const {
    const Operation* layer = producer(channels.first);
    if (layer == nullptr) return false;
    const bool is_linear = layer->code == OperationCode::FULLY_CONNECTED;
    if (!is_linear && layer->code != OperationCode::CONV_2D) return false;
    const Operand &filter = model_.at(layer->inputs[kFilter]), &bias = model_.at(layer->inputs[kBias]);
    const bool has_weights = filter.constant() != nullptr && filter.type == OperandCode::TENSOR_FLOAT32 &&
                             bias.constant() != nullptr && bias.type == OperandCode::TENSOR_FLOAT32;
    // A CONV_2D's last input is its layout flag; the activation comes before it.
    const OperandId activation = layer->inputs[layer->inputs.size() - (is_linear ? 1 : 2)];
    const Dims* fused = model_.at(activation).ints();
    const bool is_plain = fused != nullptr && (*fused)[0] == Dim(static_cast<int64_t>(FuseCode::NONE));
    return has_weights && is_plain && is_in_nchw(*layer) && channels.second == 1;
  }

  // Returns whether the layer is in NCHW: layouts aren't chosen yet, except those of convolutions that a pass made.
  bool is_in_nchw(const Operation& layer) const {
    if (layer.code == OperationCode::FULLY_CONNECTED) return true;
    const bool* flag = std::get_if<bool>(&model_.at(layer.inputs.back()).value);
    return flag != nullptr && *flag;
  }

  // Calls visit(input number, channels) for each input with channels of a sum, a join or a move; false for others.
  template <typename Visit>
  bool visit_inputs(const Channels& channels, const Visit& visit) {
    const Operation* operation = producer(channels.first);
    if (operation == nullptr) return false;
    if (operation->code == OperationCode::ADD) {
      return has_no_activation(model_, *operation) && visit(size_t{0}, channels.second) &&
             visit(size_t{1}, channels.second);
    }
    const auto axis = moved_axis(*operation, channels.second, true);
    if (!axis) return false;
    const size_t count = operation->code == OperationCode::CONCATENATION ? operation->inputs.size() - 1 : 1;
    for (size_t i = 0; i < count; ++i) {
      if (!visit(i, *axis)) return false;
    }
    return true;
  }

  bool are_inputs_centred(const Channels& channels) {
    const Operation* operation = producer(channels.first);
    return visit_inputs(channels, [&](size_t input, size_t axis) {
      const OperandId id = operation->inputs[input];
      const bool is_sum = operation->code == OperationCode::ADD;
      if (model_.at(id).constant() != nullptr) return has_channels(id, channels, axis);
      return (!is_sum || dims(id) == dims(channels.first)) && can_be_centred({id, axis});
    });
  }

  // Returns whether a float constant has a value for each channel, and may have a copy of its own. A sum broadcasts a
  // constant of lower rank.
  bool has_channels(OperandId id, const Channels& channels, size_t axis) const {
    constexpr size_t kMostElements = 1 << 20;  // the copy is made in memory
    const Operand& constant = model_.at(id);
    if (constant.constant()->element_count() > kMostElements) return false;
    const size_t missing = dims(channels.first).size() - std::min(dims(channels.first).size(), constant.dims.size());
    return constant.type == OperandCode::TENSOR_FLOAT32 && axis >= missing &&
           constant.dims[axis - missing] == dims(channels.first)[channels.second];
  }

  void find_sources(const Channels& channels) {
    if (!found_.insert(channels).second) return;
    const auto number = static_cast<size_t>(uses_.producer[static_cast<size_t>(channels.first)]);
    if (is_layer(channels)) {
      layers_.insert(number);
      return;
    }
    visit_inputs(channels, [&](size_t input, size_t axis) {
      const OperandId id = model_.operations[number].inputs[input];
      if (model_.at(id).constant() == nullptr) {
        find_sources({id, axis});
      } else {
        constants_[{number, input}] = axis - (dims(channels.first).size() - dims(id).size());
      }
      return true;
    });
  }

  // Adds a constant minus its mean along an axis.
  OperandId centred(OperandId id, size_t axis) {
    const Constant constant = *model_.at(id).constant();
    std::vector<float> values = constant.floats();
    const std::vector<int64_t>& shape = constant.shape();
    const int64_t inner =
        product(to_dims(std::vector<int64_t>(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end())))
            .value();
    const auto block = static_cast<size_t>(shape[axis] * inner);
    for (size_t i = 0; i < values.size(); i += block) {
      const std::vector<float> means = negative_means(values.data() + i, block, static_cast<size_t>(inner));
      for (size_t j = 0; j < block; ++j) values[i + j] += means[j % static_cast<size_t>(inner)];
    }
    return builder_.tensor(Constant::of_floats(std::move(values), shape));
  }

  // Returns, for each of the first `inner` values, -1 times the mean of it and every `inner`-th value behind it.
  static std::vector<float> negative_means(const float* values, size_t count, size_t inner) {
    std::vector<double> sums(inner);
    for (size_t i = 0; i < count; i += inner) {
      for (size_t j = 0; j < inner; ++j) sums[j] += values[i + j];
    }
    std::vector<float> means;
    for (const double sum : sums) means.push_back(static_cast<float>(-sum / static_cast<double>(count / inner)));
    return means;
  }

  // Subtracts means from a layer's weights. Reads the weights here to compute the means; the weights change when they
  // are written.
  void centre_layer(Operation& layer) {
    const Constant filter = *model_.at(layer.inputs[kFilter]).constant();
    const std::vector<int64_t>& shape = filter.shape();
    const std::vector<float> values = filter.floats();
    const size_t inner = values.size() / static_cast<size_t>(shape[0]);
    const auto means = std::make_shared<const std::vector<float>>(negative_means(values.data(), values.size(), inner));
    const Constant matrix = filter.then(Reshape{{shape[0], static_cast<int64_t>(inner)}}).then(AddVector{means});
    layer.inputs[kFilter] = builder_.tensor(matrix.then(Reshape{shape}));
    layer.inputs[kBias] = centred(layer.inputs[kBias], 0);
  }

  Model& model_;
  Builder builder_;
  const Uses uses_;
  std::vector<std::vector<size_t>> readers_;  // by operand: the operations that read it
  std::set<OperandId> model_outputs_;
  std::map<Channels, bool> may_lose_mean_, can_be_centred_;
  std::set<Channels> found_;
  std::set<size_t> layers_;                                // operations whose weights lose their mean
  std::map<std::pair<size_t, size_t>, size_t> constants_;  // by operation and input: the constant's axis
};

}  // namespace

void fold_centring(Model& model) {
  CentringFolder(model).run();
}

}  // namespace nnapi_convert::nnapi
