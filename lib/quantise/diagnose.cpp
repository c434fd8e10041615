// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/diagnose.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>

#include "lib/format/operation_table.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/quantise/histogram.h"
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

float real(int stored, const nnapi::Scale& scale) {
  return scale.scale * static_cast<float>(stored - scale.zero_point);
}

Values reals(const Bytes& stored, const nnapi::Scale& scale) {
  Values result;
  result.reserve(stored.size());
  for (const uint8_t each : stored) result.push_back(real(each, scale));
  return result;
}

Values through(const Values& values, const nnapi::Scale& scale) {
  Values result;
  result.reserve(values.size());
  for (const float value : values) {
    const double steps = std::round(static_cast<double>(value) / static_cast<double>(scale.scale)) + scale.zero_point;
    result.push_back(real(static_cast<int>(std::min(255.0, std::max(0.0, steps))), scale));
  }
  return result;
}

// The parts of a result that are judged by themselves: those that a concatenation joins, otherwise the whole result. A
// small part would not count beside a large one.
struct ResultParts {
  std::vector<size_t> parts = {0};  // by place along the axis
  size_t inner = 1;                 // elements of each place

  size_t part_of(size_t element) const { return parts[element / inner % parts.size()]; }
};

// The power of results and of their errors, over samples, by part.
struct Power {
  std::vector<double> signal, noise;

  void add(const Values& expected, const Values& found, const ResultParts& parts) {
    signal.resize(parts.parts.back() + 1);
    noise.resize(signal.size());
    for (size_t i = 0; i < expected.size() && i < found.size(); ++i) {
      const double a = static_cast<double>(expected[i]), b = static_cast<double>(found[i]);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      signal[parts.part_of(i)] += a * a;
      noise[parts.part_of(i)] += (a - b) * (a - b);
    }
  }
  // Returns the SNR of the part that loses most.
  std::optional<double> snr() const {
    std::optional<double> lowest;
    for (size_t i = 0; i < signal.size(); ++i) {
      if (!(signal[i] > 0 && noise[i] > 0)) continue;
      const double snr = 10 * std::log10(signal[i] / noise[i]);
      lowest = std::min(lowest.value_or(snr), snr);
    }
    return lowest;
  }
};

// Returns a model of the operation with its operands, which keep their numbers; the others are empty, so that this
// costs next to nothing for a large model.
Model with_operands_of(const Model& model, const Operation& operation) {
  Model one;
  one.operations = {operation};
  one.operands.resize(model.operands.size());
  for (const auto* side : {&operation.inputs, &operation.outputs}) {
    for (const OperandId id : *side) one.at(id) = model.at(id);
  }
  return one;
}

// One operation of the model by itself, between floats: as floats, as integers, and with rounded weights.
class Alone {
 public:
  Alone(const Model& model, size_t number, const Choice& choice, const DiagnoseRequest& request)
      : operation_(model.operations[number]), level_(request.rules.rules.feature_level) {
    Model one = with_operands_of(model, operation_);
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
    if (nnapi::form_of(operation_.code) == nnapi::IntegerForm::kWeighted) {
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

  // Replaces the float model's filter by the values that its integers stand for.
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

// The measured losses of one operation, over samples.
struct Measured {
  Power alone, cumulated, weights, activations;
  double saturated = 0, count = 0;
  Histogram values;
};

// Returns the bins of the histogram, joined to a few.
Spread spread_of(const Histogram& values, const nnapi::Scale& scale) {
  Spread spread{values.lowest(), values.highest(), {}, real(0, scale), real(255, scale)};
  if (values.empty()) return {0, 0, {}, spread.scale_lowest, spread.scale_highest};
  spread.counts.resize(Spread::kBins);
  const double lowest = static_cast<double>(values.lowest());
  const double width = (static_cast<double>(values.highest()) - lowest) / static_cast<double>(Spread::kBins);
  for (size_t bin = 0; bin < values.bins().size(); ++bin) {
    const double place = width > 0 ? (values.centre(bin) - lowest) / width : 0;
    const double last = static_cast<double>(Spread::kBins - 1);
    spread.counts[static_cast<size_t>(std::min(last, std::max(0.0, place)))] += values.bins()[bin];
  }
  return spread;
}

// A range of the measured operations whose results one run of the model gives.
struct Part {
  size_t begin = 0, end = 0;
};

// Measures sample by sample, and the operations in parts: the values of all tensors of a model take much memory.
class Diagnosing {
 public:
  Diagnosing(const Model& model, const Choice& choice, const DiagnoseRequest& request)
      : model_(model), choice_(choice), request_(request), floats_(model.operands.size(), nullptr) {
    for (size_t i = 0; i < model.operations.size(); ++i) {
      if (choice.assignment.is_integer[i] && can_run_alone(model.operations[i])) numbers_.push_back(i);
    }
    measured_.resize(numbers_.size());
    part();
  }

  std::vector<OperationLoss> run(const std::vector<KeptSample>& samples) {
    for (const KeptSample& each : samples) {
      const Sample sample = each.sample();
      for (const Part& part : parts_) measure(sample, part);
      if (request_.on_sample) request_.on_sample();
    }
    std::vector<OperationLoss> losses;
    for (size_t i = 0; i < numbers_.size(); ++i) losses.push_back(loss_of(numbers_[i], measured_[i]));
    return losses;
  }

 private:
  const nnapi::Scale& scale(OperandId id) const { return *choice_.assignment.scales[static_cast<size_t>(id)]; }
  OperandId result_of(size_t number) const { return model_.operations[number].outputs[0]; }

  // Returns the values of the float model's tensor on the current sample, without a copy.
  const Bytes& floats(OperandId id) const { return *floats_[static_cast<size_t>(id)]; }

  // True if the operation reads and writes only float tensors of known sizes.
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

  // Divides the operations into parts whose results take about the same memory.
  void part() {
    constexpr double kParts = 4;  // each takes a run of the model
    std::vector<double> sizes;
    for (const size_t number : numbers_) {
      double size = 1;
      for (const Dim& dim : model_.at(result_of(number)).dims) size *= static_cast<double>(*dim.fixed_value());
      sizes.push_back(size);
    }
    const double most = std::accumulate(sizes.begin(), sizes.end(), 0.0) / kParts;
    double held = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (parts_.empty() || held + sizes[i] / 2 > most) {
        parts_.push_back({i, i});
        held = 0;
      }
      parts_.back().end = i + 1;
      held += sizes[i];
    }
  }

  // Returns the float model with the inputs and results of the part's operations as outputs. Its own outputs stay
  // behind them: an input that only they need would be dropped otherwise.
  Model exposing(const Part& part, std::vector<OperandId>& made) const {
    std::set<OperandId> wanted;
    for (size_t i = part.begin; i < part.end; ++i) {
      const Operation& operation = model_.operations[numbers_[i]];
      wanted.insert(operation.inputs.begin(), operation.inputs.end());
      wanted.insert(operation.outputs[0]);
    }
    for (const Operation& operation : model_.operations) {
      for (const OperandId id : operation.outputs) {
        if (wanted.count(id) != 0) made.push_back(id);
      }
    }
    Model model = model_;
    model.outputs.clear();
    for (const OperandId id : made) model.outputs.push_back({id});
    for (const nnapi::Boundary& output : model_.outputs) {
      if (wanted.count(output.operand) == 0) model.outputs.push_back(output);
    }
    nnapi::compact(model);
    return model;
  }

  // Runs the quantised model; returns the result of each of the part's operations, then the model's own results.
  std::vector<Bytes> run_integers(const Sample& sample, const Part& part) const {
    RewriteRequest rewriting{choice_.assignment, request_.rules.rules};
    if (!choice_.bias_changes.empty()) rewriting.bias_changes = &choice_.bias_changes;
    Rewritten rewritten = rewrite(model_, rewriting);
    std::vector<nnapi::Boundary> outputs;
    for (size_t i = part.begin; i < part.end; ++i) {
      outputs.push_back({rewritten.integer_operands[static_cast<size_t>(result_of(numbers_[i]))]});
    }
    outputs.insert(outputs.end(), rewritten.model.outputs.begin(), rewritten.model.outputs.end());
    rewritten.model.outputs = std::move(outputs);
    nnapi::compact(rewritten.model);
    return HostModel(rewritten.model, request_.arguments, request_.rules.rules.feature_level).run_last(sample);
  }

  void measure(const Sample& sample, const Part& part) {
    const std::vector<Bytes> integers = run_integers(sample, part);
    std::vector<OperandId> made;
    const std::vector<Bytes> results =
        HostModel(exposing(part, made), request_.arguments, request_.rules.rules.feature_level).run_last(sample);
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      floats_[static_cast<size_t>(model_.inputs[i].operand)] = &sample.inputs[i];
    }
    for (size_t i = 0; i < made.size(); ++i) floats_[static_cast<size_t>(made[i])] = &results[i];
    for (size_t i = part.begin; i < part.end; ++i) {
      const OperandId id = result_of(numbers_[i]);
      const ResultParts parts = parts_of(model_.operations[numbers_[i]]);
      measured_[i].cumulated.add(floats_in(floats(id)), reals(integers[i - part.begin], scale(id)), parts);
      measure_alone(numbers_[i], measured_[i]);
    }
  }

  // Returns the parts of the operation's result, whose sizes are known (can_run_alone()).
  ResultParts parts_of(const Operation& operation) const {
    ResultParts result;
    const Dims* axis = operation.inputs.empty() ? nullptr : model_.at(operation.inputs.back()).ints();
    if (operation.code != OperationCode::CONCATENATION || axis == nullptr) return result;
    const auto at = static_cast<size_t>((*axis)[0].value());
    result.parts.clear();
    for (size_t i = 0; i + 1 < operation.inputs.size(); ++i) {
      const Dims& dims = model_.at(operation.inputs[i]).dims;
      result.parts.insert(result.parts.end(), static_cast<size_t>(dims[at].value()), i);
    }
    const Dims& dims = model_.at(operation.outputs[0]).dims;
    for (size_t i = at + 1; i < dims.size(); ++i) result.inner *= static_cast<size_t>(dims[i].value());
    return result;
  }

  void measure_alone(size_t number, Measured& measured) {
    const OperandId output = result_of(number);
    Alone alone(model_, number, choice_, request_);
    Sample sample, rounded;
    for (const OperandId id : alone.inputs()) {
      std::vector<int64_t> shape;
      for (const Dim& dim : model_.at(id).dims) shape.push_back(*dim.fixed_value());
      sample.shapes.push_back(shape);
      rounded.shapes.push_back(shape);
      sample.inputs.push_back(floats(id));
      rounded.inputs.push_back(bytes_in(through(floats_in(floats(id)), scale(id))));
    }
    const Values expected = floats_in(floats(output));
    const ResultParts parts = parts_of(model_.operations[number]);
    measured.alone.add(expected, alone.run_integers(sample), parts);
    if (alone.has_weights()) measured.weights.add(expected, alone.run_rounded(sample), parts);
    measured.activations.add(expected, through(alone.run_floats(rounded), scale(output)), parts);
    measured.values.add(expected.data(), expected.size());
    measured.count += static_cast<double>(expected.size());
    // NNAPI's own scales, such as LOGISTIC's 1/256, leave out less than a step.
    if (nnapi::fixed_scale(model_.operations[number].code)) return;
    for (const float value : expected) measured.saturated += is_saturated(value, scale(output)) ? 1 : 0;
  }

  OperationLoss loss_of(size_t number, const Measured& measured) const {
    const Operation& operation = model_.operations[number];
    return {nnapi_convert::name_of(operation.code),
            model_.at(operation.outputs[0]).name,
            operation.source,
            measured.alone.snr(),
            measured.cumulated.snr(),
            measured.weights.snr(),
            measured.activations.snr(),
            measured.count > 0 ? measured.saturated / measured.count : 0,
            spread_of(measured.values, scale(operation.outputs[0]))};
  }

  static bool is_saturated(float value, const nnapi::Scale& scale) {
    const float margin = scale.scale / 2;
    return value < real(0, scale) - margin || value > real(255, scale) + margin;
  }

  const Model& model_;
  const Choice& choice_;
  const DiagnoseRequest& request_;
  std::vector<size_t> numbers_;  // of operations
  std::vector<Part> parts_;
  std::vector<Measured> measured_;    // by number
  std::vector<const Bytes*> floats_;  // by operand: the values of the float model's tensors on the current sample
};

}  // namespace

std::vector<OperationLoss> diagnose(const Model& base, const Choice& choice, const std::vector<KeptSample>& samples,
                                    const DiagnoseRequest& request) {
  return Diagnosing(base, choice, request).run(samples);
}

}  // namespace nnapi_convert::quantise
