// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/equalise.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/signature.h"
#include "lib/quantise/taps.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Constant;
using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

constexpr int kRounds = 30;
constexpr double kSettled = 1.01;       // factors nearer to 1 change nothing any more
constexpr double kLargestFactor = 1e4;  // a channel that is nearly 0 would give a larger factor
constexpr float kReluSix = 6;

// Two layers with weights, and the operations between them, which keep channels apart and pass factors on.
struct Pair {
  size_t first = 0, second = 0;      // operations
  std::vector<size_t> between = {};  // operations
};

bool passes_factors(OperationCode code) {
  return code == OperationCode::RELU || code == OperationCode::RELU6 || code == OperationCode::MAX_POOL_2D ||
         code == OperationCode::AVERAGE_POOL_2D || code == OperationCode::PAD;
}

bool is_layer(const Model& model, const Operation& operation) {
  if (nnapi::form_of(operation.code) != nnapi::IntegerForm::kWeighted) return false;
  const auto is_floats = [&](OperandId id) {
    return model.at(id).constant() != nullptr && model.at(id).type == OperandCode::TENSOR_FLOAT32;
  };
  return is_floats(operation.inputs[1]) && is_floats(operation.inputs[2]) &&
         is_float_variable(model.at(operation.inputs[0]));
}

// Returns the input that names the fused activation.
std::optional<size_t> activation_input(const Model& model, const Operation& operation) {
  const nnapi::SignatureMatch match = nnapi::match_signature(model, operation);
  for (size_t i = 0; match.signature != nullptr && i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = nnapi::argument_of_input(*match.signature, i, operation.inputs.size());
    if (argument.role == ArgumentRole::kActivation) return i;
  }
  return std::nullopt;
}

FuseCode activation_of(const Model& model, const Operation& operation) {
  if (operation.code == OperationCode::RELU6) return FuseCode::RELU6;
  const auto input = activation_input(model, operation);
  const Dims* value = input ? model.at(operation.inputs[*input]).ints() : nullptr;
  return value != nullptr ? static_cast<FuseCode>(value->at(0).value()) : FuseCode::NONE;
}

std::vector<Pair> find_pairs(const Model& model) {
  const nnapi::Uses uses(model);
  const auto only_reader = [&](OperandId id) -> std::optional<size_t> {
    if (uses.readers[static_cast<size_t>(id)] != 1) return std::nullopt;
    for (size_t i = 0; i < model.operations.size(); ++i) {
      const std::vector<OperandId>& inputs = model.operations[i].inputs;
      if (std::find(inputs.begin(), inputs.end(), id) != inputs.end()) return i;
    }
    return std::nullopt;  // the model's own output
  };
  std::vector<Pair> pairs;
  for (size_t i = 0; i < model.operations.size(); ++i) {
    if (!is_layer(model, model.operations[i])) continue;
    Pair pair{i};
    auto next = only_reader(model.operations[i].outputs[0]);
    while (next && passes_factors(model.operations[*next].code)) {
      pair.between.push_back(*next);
      next = only_reader(model.operations[*next].outputs[0]);
    }
    if (!next || !is_layer(model, model.operations[*next])) continue;
    pair.second = *next;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

class Equalising {
 public:
  Equalising(const Model& model, const Observations& observations, const EqualiseOptions& options)
      : observations_(observations), options_(options) {
    result_.model = model;
  }

  Equalised run() {
    std::vector<Pair> pairs;
    for (const Pair& pair : find_pairs(result_.model)) {
      if (fits(pair) && has_no_limit(pair)) pairs.push_back(pair);
    }
    for (const Pair& pair : pairs) load(pair);
    for (int round = 0; round < kRounds; ++round) {
      double largest = 1;
      for (const Pair& pair : pairs) largest = std::max(largest, balance(pair));
      if (largest < kSettled) break;
    }
    for (const Pair& pair : pairs) drop_limits(pair);
    store();
    result_.pairs = pairs.size();
    return std::move(result_);
  }

 private:
  struct Layer {
    std::vector<float> filter, bias;
    bool is_loaded = false;
  };

  const Operation& operation(size_t number) const { return result_.model.operations[number]; }
  const Constant& filter_of(size_t number) const { return *result_.model.at(operation(number).inputs[1]).constant(); }
  Taps taps_of(size_t number, size_t inputs) const {
    return {operation(number).code, filter_of(number).shape(), inputs};
  }
  size_t channels(const Pair& pair) const {
    return result_.model.at(operation(pair.first).inputs[2]).constant()->element_count();
  }

  // Returns whether each channel that the first layer makes is one that the second reads, without another axis in
  // between.
  bool fits(const Pair& pair) const {
    const Taps second = taps_of(pair.second, channels(pair));
    const bool is_flat = operation(pair.first).code == OperationCode::FULLY_CONNECTED;
    const bool reads_flat = operation(pair.second).code == OperationCode::FULLY_CONNECTED;
    return second.fits() && is_flat == reads_flat;
  }

  // Returns whether the pair's activations allow factors: RELU6 and RELU1 cut off at the same height whatever the
  // factor.
  bool has_no_limit(const Pair& pair) {
    std::vector<size_t> all = pair.between;
    all.push_back(pair.first);
    for (const size_t number : all) {
      const FuseCode activation = activation_of(result_.model, operation(number));
      if (activation == FuseCode::RELU1) return false;
      if (activation != FuseCode::RELU6) continue;
      const Histogram& histogram = observations_.histograms[static_cast<size_t>(operation(number).outputs[0])];
      const bool clips = histogram.empty() || histogram.highest() >= kReluSix;
      result_.has_clipping = result_.has_clipping || clips;
      if (clips && !options_.drops_clipping) return false;
    }
    return true;
  }

  Layer& layer(size_t number) {
    if (layers_.size() <= number) layers_.resize(result_.model.operations.size());
    return layers_[number];
  }

  void load(const Pair& pair) {
    for (const size_t number : {pair.first, pair.second}) {
      if (layer(number).is_loaded) continue;
      layer(number) = {filter_of(number).floats(), result_.model.at(operation(number).inputs[2]).constant()->floats(),
                       true};
    }
  }

  // Makes the channels of both layers equally large; returns the largest factor that was needed.
  double balance(const Pair& pair) {
    const size_t count = channels(pair);
    Layer &first = layer(pair.first), &second = layer(pair.second);
    const Taps reading = taps_of(pair.second, count);
    const Taps making = taps_of(pair.first, inputs_of(pair.first));
    std::vector<double> made(count, 0), read(count, 0);
    for (size_t i = 0; i < first.filter.size(); ++i) {
      double& largest = made[making.at(i).output];
      largest = std::max(largest, std::abs(static_cast<double>(first.filter[i])));
    }
    for (size_t i = 0; i < second.filter.size(); ++i) {
      double& largest = read[reading.at(i).input];
      largest = std::max(largest, std::abs(static_cast<double>(second.filter[i])));
    }
    std::vector<float> factors(count, 1);
    double most = 1;
    for (size_t i = 0; i < count; ++i) {
      if (!(made[i] > 1e-20) || !(read[i] > 1e-20)) continue;  // a dead channel
      const double factor = std::min(kLargestFactor, std::max(1 / kLargestFactor, std::sqrt(made[i] / read[i])));
      factors[i] = static_cast<float>(factor);
      most = std::max({most, factor, 1 / factor});
    }
    for (size_t i = 0; i < first.filter.size(); ++i) first.filter[i] /= factors[making.at(i).output];
    for (size_t i = 0; i < count; ++i) first.bias[i] /= factors[i];
    for (size_t i = 0; i < second.filter.size(); ++i) second.filter[i] *= factors[reading.at(i).input];
    return most;
  }

  // Describes the filter's shape. For the first layer the input channels of elements don't matter.
  size_t inputs_of(size_t number) const {
    const std::vector<int64_t>& shape = filter_of(number).shape();
    return static_cast<size_t>(shape.back());
  }

  void drop_limits(const Pair& pair) {
    std::vector<size_t> all = pair.between;
    all.push_back(pair.first);
    for (const size_t number : all) {
      Operation& changed = result_.model.operations[number];
      if (activation_of(result_.model, changed) != FuseCode::RELU6) continue;
      if (changed.code == OperationCode::RELU6) {
        changed.code = OperationCode::RELU;
        continue;
      }
      nnapi::Operand relu = result_.model.at(changed.inputs[*activation_input(result_.model, changed)]);
      relu.value = Dims{static_cast<int64_t>(FuseCode::RELU)};
      const size_t input = *activation_input(result_.model, changed);
      changed.inputs[input] = result_.model.add(std::move(relu));
    }
  }

  void store() {
    for (size_t number = 0; number < layers_.size(); ++number) {
      if (!layers_[number].is_loaded) continue;
      set(number, 1, std::move(layers_[number].filter));
      set(number, 2, std::move(layers_[number].bias));
    }
  }

  // Gives the operation a constant of its own: other operations may share the old one.
  void set(size_t number, size_t input, std::vector<float> values) {
    OperandId& id = result_.model.operations[number].inputs[input];
    nnapi::Operand operand = result_.model.at(id);
    operand.value = Constant::of_floats(std::move(values), operand.constant()->shape());
    id = result_.model.add(std::move(operand));
  }

  const Observations& observations_;
  const EqualiseOptions& options_;
  Equalised result_;
  std::vector<Layer> layers_;
};

}  // namespace

Equalised equalise(const Model& model, const Observations& observations, const EqualiseOptions& options) {
  return Equalising(model, observations, options).run();
}

}  // namespace nnapi_convert::quantise
