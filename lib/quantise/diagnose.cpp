#include "lib/quantise/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "lib/format/operation_table.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operand;
using nnapi::OperandId;
using nnapi::Operation;
using Values = std::vector<float>;

Values floats_in(const Bytes& bytes) {
  Values values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Bytes bytes_in(const Values& values) {
  Bytes bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

float real(int stored, const Scale& scale) {
  return scale.scale * static_cast<float>(stored - scale.zero_point);
}

Values through(const Values& values, const Scale& scale) {
  Values result;
  for (const float value : values) {
    const double steps = std::round(static_cast<double>(value) / static_cast<double>(scale.scale)) + scale.zero_point;
    result.push_back(real(static_cast<int>(std::min(255.0, std::max(0.0, steps))), scale));
  }
  return result;
}

// Power of results and of their error, over samples.
struct Power {
  double signal = 0, noise = 0;

  void add(const Values& expected, const Values& found) {
    for (size_t i = 0; i < expected.size() && i < found.size(); ++i) {
      const double a = static_cast<double>(expected[i]), b = static_cast<double>(found[i]);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      signal += a * a;
      noise += (a - b) * (a - b);
    }
  }
  std::optional<double> snr() const {
    return signal > 0 && noise > 0 ? std::optional<double>(10 * std::log10(signal / noise)) : std::nullopt;
  }
};

// One operation of the model by itself, between floats: as floats, as integers, and with rounded weights.
class Alone {
 public:
  Alone(const Model& model, size_t number, const Choice& choice, const DiagnoseRequest& request)
      : operation_(model.operations[number]), level_(request.rules.rules.feature_level) {
    Model one = model;
    one.operations = {operation_};
    one.inputs.clear();
    for (const OperandId id : operation_.inputs) {
      if (model.at(id).is_constant() || std::count(inputs_.begin(), inputs_.end(), id) > 0) continue;
      one.inputs.push_back({id, false, inputs_.size()});
      inputs_.push_back(id);
      arguments_.push_back(model.at(id).dims);
    }
    one.outputs = {{operation_.outputs[0]}};
    Assignment assignment;
    assignment.is_integer = {true};
    assignment.scales = choice.assignment.scales;
    RewriteRequest rewriting{assignment, request.rules.rules};
    BiasChanges changes;
    if (!choice.bias_changes.empty()) changes = {choice.bias_changes[number]};
    if (!changes.empty()) rewriting.bias_changes = &changes;
    const Model integers = rewrite(one, rewriting).model;
    if (form_of(operation_.code) == Form::kWeighted) {
      Model rounded = one;
      round_weights(integers, rounded);
      rounded_ = host_of(std::move(rounded));
    }
    integers_ = host_of(integers);
    floats_ = host_of(std::move(one));
  }

  const std::vector<OperandId>& inputs() const { return inputs_; }
  Values run_integers(const Sample& sample) { return floats_in(integers_->run(sample)[0]); }
  Values run_floats(const Sample& sample) { return floats_in(floats_->run(sample)[0]); }
  bool has_weights() const { return rounded_ != nullptr; }
  Values run_rounded(const Sample& sample) { return floats_in(rounded_->run(sample)[0]); }

 private:
  std::unique_ptr<HostModel> host_of(Model model) const {
    nnapi::compact(model);
    return std::make_unique<HostModel>(model, arguments_, level_);
  }

  // The values that the integers of the filter stand for.
  void round_weights(const Model& integers, Model& floats) const {
    const auto found = std::find_if(integers.operations.begin(), integers.operations.end(),
                                    [this](const Operation& each) { return each.code == operation_.code; });
    const Operand& filter = integers.at(found->inputs[1]);
    const std::vector<uint8_t> bytes = filter.constant()->bytes();
    const std::vector<int64_t>& shape = filter.constant()->shape();
    size_t inner = 1;
    for (size_t i = filter.channels ? filter.channels->axis + 1 : shape.size(); i < shape.size(); ++i) {
      inner *= static_cast<size_t>(shape[i]);
    }
    Values values;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (filter.channels) {
        const std::vector<float>& scales = filter.channels->scales;
        values.push_back(scales[i / inner % scales.size()] * static_cast<float>(static_cast<int8_t>(bytes[i])));
      } else {
        values.push_back(real(bytes[i], {filter.scale, filter.zero_point}));
      }
    }
    floats.at(operation_.inputs[1]).value = nnapi::Constant::of_floats(std::move(values), shape);
  }

  const Operation& operation_;
  int level_;
  std::vector<OperandId> inputs_;
  std::vector<Dims> arguments_;
  std::unique_ptr<HostModel> integers_, floats_, rounded_;
};

class Diagnosing {
 public:
  Diagnosing(const Model& model, const Choice& choice, const std::vector<Sample>& samples,
             const DiagnoseRequest& request)
      : model_(model), choice_(choice), samples_(samples), request_(request) {
    for (size_t i = 0; i < model.operations.size(); ++i) {
      if (choice.assignment.is_integer[i] && can_run_alone(model.operations[i])) numbers_.push_back(i);
    }
  }

  std::vector<OperationLoss> run() {
    if (numbers_.empty()) return {};
    measure_floats();
    measure_cumulated();
    std::vector<OperationLoss> losses;
    for (size_t i = 0; i < numbers_.size(); ++i) losses.push_back(loss_of(numbers_[i], cumulated_[i]));
    return losses;
  }

 private:
  const Scale& scale(OperandId id) const { return *choice_.assignment.scales[static_cast<size_t>(id)]; }

  // Reads and gives float tensors of known sizes.
  bool can_run_alone(const Operation& operation) const {
    for (const auto* side : {&operation.inputs, &operation.outputs}) {
      for (const OperandId id : *side) {
        const Operand& operand = model_.at(id);
        if (operand.is_constant()) continue;
        if (!is_float_variable(operand)) return false;
        for (const Dim& dim : operand.dims) {
          if (!dim.is_fixed()) return false;
        }
      }
    }
    return true;
  }

  // All that the operations read and give, by sample.
  void measure_floats() {
    Model exposing = model_;
    exposing.outputs.clear();
    std::map<OperandId, size_t> places;
    for (size_t i = 0; i < model_.inputs.size(); ++i) places[model_.inputs[i].operand] = i;
    std::vector<OperandId> made;
    for (const Operation& operation : model_.operations) {
      for (const OperandId id : operation.outputs) {
        if (!is_float_variable(model_.at(id))) continue;
        exposing.outputs.push_back({id});
        made.push_back(id);
      }
    }
    HostModel host(exposing, request_.arguments, request_.rules.rules.feature_level);
    for (const Sample& sample : samples_) {
      std::map<OperandId, Values>& values = floats_.emplace_back();
      for (const auto& [id, place] : places) {
        if (is_float_variable(model_.at(id))) values[id] = floats_in(sample.inputs[place]);
      }
      const std::vector<Bytes>& results = host.run(sample);
      for (size_t i = 0; i < made.size(); ++i) values[made[i]] = floats_in(results[i]);
    }
  }

  void measure_cumulated() {
    RewriteRequest rewriting{choice_.assignment, request_.rules.rules};
    if (!choice_.bias_changes.empty()) rewriting.bias_changes = &choice_.bias_changes;
    Rewritten rewritten = rewrite(model_, rewriting);
    rewritten.model.outputs.clear();
    for (const size_t number : numbers_) {
      const OperandId id = model_.operations[number].outputs[0];
      rewritten.model.outputs.push_back({rewritten.integer_operands[static_cast<size_t>(id)]});
    }
    nnapi::compact(rewritten.model);
    HostModel host(rewritten.model, request_.arguments, request_.rules.rules.feature_level);
    cumulated_.resize(numbers_.size());
    for (size_t sample = 0; sample < samples_.size(); ++sample) {
      const std::vector<Bytes>& results = host.run(samples_[sample]);
      for (size_t i = 0; i < numbers_.size(); ++i) {
        const OperandId id = model_.operations[numbers_[i]].outputs[0];
        Values found;
        for (const uint8_t stored : results[i]) found.push_back(real(stored, scale(id)));
        cumulated_[i].add(floats_[sample].at(id), found);
      }
    }
  }

  OperationLoss loss_of(size_t number, const Power& cumulated) {
    const Operation& operation = model_.operations[number];
    const OperandId output = operation.outputs[0];
    OperationLoss loss{
        nnapi_convert::name_of(operation.code), model_.at(output).name, operation.source, {}, {}, {}, {}};
    Alone alone(model_, number, choice_, request_);
    Power integers, weights, activations;
    double saturated = 0, count = 0;
    for (std::map<OperandId, Values>& values : floats_) {
      Sample sample, rounded;
      for (const OperandId id : alone.inputs()) {
        std::vector<int64_t> shape;
        for (const Dim& dim : model_.at(id).dims) shape.push_back(*dim.fixed_value());
        sample.shapes.push_back(shape);
        rounded.shapes.push_back(shape);
        sample.inputs.push_back(bytes_in(values.at(id)));
        rounded.inputs.push_back(bytes_in(through(values.at(id), scale(id))));
      }
      const Values& expected = values.at(output);
      integers.add(expected, alone.run_integers(sample));
      if (alone.has_weights()) weights.add(expected, alone.run_rounded(sample));
      activations.add(expected, through(alone.run_floats(rounded), scale(output)));
      for (const float value : expected) saturated += is_saturated(value, scale(output)) ? 1 : 0;
      count += static_cast<double>(expected.size());
    }
    loss.alone = integers.snr();
    loss.cumulated = cumulated.snr();
    loss.weights = weights.snr();
    loss.activations = activations.snr();
    loss.saturated = count > 0 ? saturated / count : 0;
    return loss;
  }

  static bool is_saturated(float value, const Scale& scale) {
    const float margin = scale.scale / 2;
    return value < real(0, scale) - margin || value > real(255, scale) + margin;
  }

  const Model& model_;
  const Choice& choice_;
  const std::vector<Sample>& samples_;
  const DiagnoseRequest& request_;
  std::vector<size_t> numbers_;                      // of operations
  std::vector<std::map<OperandId, Values>> floats_;  // by sample: what the float model's tensors hold
  std::vector<Power> cumulated_;
};

}  // namespace

std::vector<OperationLoss> diagnose(const Model& model, const Choice& choice, const std::vector<Sample>& samples,
                                    const DiagnoseRequest& request) {
  return Diagnosing(base_model(model, choice), choice, samples, request).run();
}

std::vector<const OperationLoss*> worst_of(const std::vector<OperationLoss>& losses, size_t most) {
  std::vector<const OperationLoss*> worst;
  for (const OperationLoss& loss : losses) {
    if (loss.alone) worst.push_back(&loss);
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](const OperationLoss* a, const OperationLoss* b) { return *a->alone < *b->alone; });
  if (worst.size() > most) worst.resize(most);
  return worst;
}

std::vector<std::string> advice_on(const std::vector<OperationLoss>& losses) {
  constexpr double kLow = 30;     // dB of one operation alone: others lose less by far
  constexpr double kMuch = 0.01;  // share of results that the scale can't hold
  constexpr size_t kMost = 3;
  std::vector<std::string> advice;
  for (const OperationLoss* loss : worst_of(losses, kMost)) {
    if (*loss->alone >= kLow) continue;
    const bool is_of_weights = loss->weights && (!loss->activations || *loss->weights < *loss->activations);
    advice.push_back(fmt::format(
        "{} that gives {} loses most by its {} ({:.1f} dB alone): {}keep it float with --keep-float {}", loss->code,
        loss->result, is_of_weights ? "weights" : "activations", *loss->alone,
        is_of_weights ? "--runtime shim keeps a scale for each channel of convolutions, or " : "", loss->result));
  }
  for (const OperationLoss* loss : worst_of(losses, losses.size())) {
    if (loss->saturated < kMuch) continue;
    advice.push_back(
        fmt::format("{:.1f}% of what {} gives is larger than its scale holds ({}): give samples like "
                    "those held back",
                    100 * loss->saturated, loss->code, loss->result));
    break;
  }
  return advice;
}

}  // namespace nnapi_convert::quantise
