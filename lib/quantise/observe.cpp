// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/observe.h"

#include <algorithm>
#include <limits>
#include <set>

#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/signature.h"
#include "lib/quantise/host_model.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::OperandId;
using nnapi::Operation;

// Returns the tensors to measure: float outputs, and float results of operations, except those that only move values:
// they have their input's.
std::vector<OperandId> measured_operands(const Model& model) {
  std::set<OperandId> measured;
  for (const nnapi::Boundary& output : model.outputs) measured.insert(output.operand);
  for (const Operation& operation : model.operations) {
    if (moves_variable(model, operation)) continue;
    for (const OperandId output : operation.outputs) {
      if (is_float_variable(model.at(output))) measured.insert(output);
    }
  }
  return {measured.begin(), measured.end()};
}

// The channels of a tensor: value i belongs to channel (i / inner) % channels.
struct Channels {
  size_t axis = 0;
  bool is_wanted = false;
  bool joins_axes = false;  // the axes from `axis` on together are the channels
};

// Returns the first of the axes that a FULLY_CONNECTED reads as one row, such as attention's heads; the last axis if
// rows have other sizes. For pictures, each channel stands for all its places.
size_t first_axis_of_rows(const Model& model, const Operation& linear, const nnapi::Uses& uses) {
  const Dims& dims = model.at(linear.inputs[0]).dims;
  const nnapi::Constant* filter = model.at(linear.inputs[1]).constant();
  const int producer = uses.producer[static_cast<size_t>(linear.inputs[0])];
  const bool is_in_order =
      producer >= 0 && model.operations[static_cast<size_t>(producer)].code == OperationCode::TRANSPOSE;
  if (filter == nullptr || !is_in_order || !all_fixed(dims)) return dims.size() - 1;
  int64_t width = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    width *= dims[axis].value();
    if (width == filter->shape().back()) return axis;
  }
  return dims.size() - 1;
}

std::vector<Channels> wanted_channels(const Model& model) {
  std::vector<Channels> wanted(model.operands.size());
  const nnapi::Uses uses(model);
  for (const Operation& operation : model.operations) {
    if (nnapi::form_of(operation.code) != nnapi::IntegerForm::kWeighted) continue;
    const size_t axis = activation_axis(model, operation);
    wanted[static_cast<size_t>(operation.outputs[0])] = {std::min(axis, model.at(operation.outputs[0]).dims.size() - 1),
                                                         true};
    const nnapi::Operand& input = model.at(operation.inputs[0]);
    if (is_float_variable(input)) {
      const size_t last = input.dims.size() - 1;
      const bool is_linear = operation.code == OperationCode::FULLY_CONNECTED;
      const size_t first = is_linear ? first_axis_of_rows(model, operation, uses) : std::min(axis, last);
      wanted[static_cast<size_t>(operation.inputs[0])] = {first, true, is_linear && first < last};
    }
  }
  return wanted;
}

void add_channels(const float* values, size_t count, size_t channels, size_t inner, ChannelStatistics& statistics) {
  if (statistics.sums.empty()) {
    statistics.sums.resize(channels);
    statistics.lowest.assign(channels, std::numeric_limits<float>::infinity());
    statistics.highest.assign(channels, -std::numeric_limits<float>::infinity());
  }
  const size_t block = channels * inner;
  for (size_t begin = 0; begin < count; begin += block) {
    for (size_t channel = 0; channel < channels; ++channel) {
      const float* first = values + begin + channel * inner;
      double sum = 0;
      float lowest = statistics.lowest[channel], highest = statistics.highest[channel];
      for (size_t i = 0; i < inner; ++i) {
        sum += static_cast<double>(first[i]);
        lowest = std::min(lowest, first[i]);
        highest = std::max(highest, first[i]);
      }
      statistics.sums[channel] += sum;
      statistics.lowest[channel] = lowest;
      statistics.highest[channel] = highest;
    }
  }
  statistics.count += static_cast<double>(count / channels);
}

class Observer {
 public:
  explicit Observer(const Model& model) : model_(model), wanted_(wanted_channels(model)) {
    result_.histograms.resize(model.operands.size());
    result_.channels.resize(model.operands.size());
  }

  void add(OperandId id, const Bytes& bytes) {
    if (model_.at(id).type != OperandCode::TENSOR_FLOAT32) return;
    const auto* values = reinterpret_cast<const float*>(bytes.data());  // a copy would take as much memory again
    const size_t count = bytes.size() / sizeof(float);
    const auto at = static_cast<size_t>(id);
    result_.histograms[at].add(values, count);
    const Channels& wanted = wanted_[at];
    const Dims& dims = model_.at(id).dims;
    if (!wanted.is_wanted || !dims[wanted.axis].is_fixed()) return;
    size_t inner = 1;
    for (size_t i = wanted.axis + 1; i < dims.size(); ++i) {
      if (!dims[i].is_fixed()) return;
      inner *= static_cast<size_t>(*dims[i].fixed_value());
    }
    const auto channels = static_cast<size_t>(*dims[wanted.axis].fixed_value());
    if (wanted.joins_axes) return add_channels(values, count, channels * inner, 1, result_.channels[at]);
    add_channels(values, count, channels, inner, result_.channels[at]);
  }

  Observations& result() { return result_; }

 private:
  const Model& model_;
  std::vector<Channels> wanted_;
  Observations result_;
};

// Gives results of operations that only move values the histogram of the moved tensor.
void share_moved(const Model& model, Observations& observations) {
  for (const Operation& operation : model.operations) {
    if (!moves_variable(model, operation)) continue;
    const Histogram& moved = observations.histograms[static_cast<size_t>(operation.inputs[0])];
    for (const OperandId output : operation.outputs) {
      Histogram& histogram = observations.histograms[static_cast<size_t>(output)];
      if (histogram.empty() && is_float_variable(model.at(output))) histogram = moved;
    }
  }
}

}  // namespace

size_t activation_axis(const Model& model, const Operation& operation) {
  if (operation.code == OperationCode::FULLY_CONNECTED) return model.at(operation.inputs[0]).dims.size() - 1;
  const nnapi::SignatureMatch match = nnapi::match_signature(model, operation);
  for (size_t i = 0; match.signature != nullptr && i < operation.inputs.size(); ++i) {
    const ArgumentInfo& argument = nnapi::argument_of_input(*match.signature, i, operation.inputs.size());
    const bool* is_nchw = std::get_if<bool>(&model.at(operation.inputs[i]).value);
    if (argument.role == ArgumentRole::kLayout && is_nchw != nullptr && *is_nchw) return 1;
  }
  return 3;
}

Observations observe(const ObserveRequest& request, const std::vector<KeptSample>& samples) {
  const std::vector<OperandId> operands = measured_operands(request.model);
  Model measuring = request.model;
  measuring.outputs.clear();
  for (const OperandId id : operands) measuring.outputs.push_back({id});
  nnapi::compact(measuring);  // leaves out the weights that equalised ones have replaced
  HostModel host(measuring, request.arguments, request.feature_level);
  Observer observer(request.model);
  size_t done = 0;
  for (const KeptSample& each : samples) {
    const Sample sample = each.sample();
    const std::vector<Bytes>& results = host.run(sample);
    for (size_t i = 0; i < request.model.inputs.size(); ++i) {
      observer.add(request.model.inputs[i].operand, sample.inputs[i]);
    }
    for (size_t i = 0; i < operands.size(); ++i) observer.add(operands[i], results[i]);
    if (request.on_sample) request.on_sample(++done);
  }
  share_moved(request.model, observer.result());
  return std::move(observer.result());
}

}  // namespace nnapi_convert::quantise
