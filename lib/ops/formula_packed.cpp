// SPDX-License-Identifier: BSD-3-Clause
// Packed sequences of known lengths: the steps of all sequences one behind the other, each with as many rows as there
// are sequences of that length or more, the longest first.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

std::vector<int64_t> numbers_of(const Tensor& constant) {
  std::vector<int64_t> numbers;
  (void)constant_of([&] {
    const Tensor values = constant.to(at::kLong).contiguous();
    numbers.assign(values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel());
    return values;
  });
  return numbers;
}

// The number of rows of each step; no step has more rows than the one before.
struct BatchSizes {
  std::vector<int64_t> rows;

  int64_t steps() const { return static_cast<int64_t>(rows.size()); }
  int64_t batch() const { return rows[0]; }
  bool are_equal() const { return rows.back() == rows[0]; }
  int64_t begin_of(int64_t step) const { return std::accumulate(rows.begin(), rows.begin() + step, int64_t{0}); }
  int64_t at(int64_t step) const { return rows[static_cast<size_t>(step)]; }
  std::vector<int64_t> lengths() const {
    std::vector<int64_t> lengths(static_cast<size_t>(batch()), 0);
    for (const int64_t count : rows) {
      for (int64_t row = 0; row < count; ++row) ++lengths[static_cast<size_t>(row)];
    }
    return lengths;
  }
};

BatchSizes batch_sizes(const FormulaArguments& args) {
  BatchSizes sizes{numbers_of(args.tensor("batch_sizes"))};
  const bool fits =
      !sizes.rows.empty() && sizes.rows.back() > 0 && std::is_sorted(sizes.rows.rbegin(), sizes.rows.rend());
  if (!fits) throw FormulaRefused("batch sizes that grow", "those of pack_padded_sequence");
  return sizes;
}

Tensor taken(const Tensor& rows, const std::vector<int64_t>& places) {
  return at::index_select(rows, 0, constant_of(places));
}

bool has_known_lengths(const OpArguments& args) {
  return args.is_constant("lengths") && args.tensor("input").rank() >= 2;
}

bool has_known_batches(const OpArguments& args) {
  return args.is_constant("batch_sizes");
}

std::vector<Formed> pack_padded(const FormulaArguments& args) {
  const std::vector<int64_t> lengths = numbers_of(args.tensor("lengths"));
  Tensor input = args.tensor("input");
  if (args.boolean("batch_first")) input = input.transpose(0, 1);
  const int64_t steps = input.size(0), batch = input.size(1);
  const bool fits = static_cast<int64_t>(lengths.size()) == batch && lengths.back() > 0 && lengths[0] <= steps &&
                    std::is_sorted(lengths.rbegin(), lengths.rend());
  if (!fits) {
    throw FormulaRefused(fmt::format("lengths [{}]", fmt::join(lengths, ", ")),
                         fmt::format("{} from {} down to 1, the longest first", batch, steps));
  }
  std::vector<int64_t> places, rows;
  for (int64_t step = 0; step < lengths[0]; ++step) {
    rows.push_back(std::count_if(lengths.begin(), lengths.end(), [&](int64_t length) { return length > step; }));
    for (int64_t row = 0; row < rows.back(); ++row) places.push_back(step * batch + row);
  }
  std::vector<int64_t> sizes = input.sizes().slice(2).vec();
  sizes.insert(sizes.begin(), steps * batch);
  const Tensor flat = input.reshape(sizes);
  const bool are_all = static_cast<int64_t>(places.size()) == steps * batch;
  return {are_all ? flat : taken(flat, places), constant_of(rows)};
}

std::vector<Formed> pad_packed(const FormulaArguments& args) {
  const BatchSizes sizes = batch_sizes(args);
  const Tensor data = args.tensor("data");
  const int64_t total = args.integer("total_length"), steps = std::max(total, sizes.steps()), batch = sizes.batch();
  if (total > 0 && total < sizes.steps()) {
    throw FormulaRefused(fmt::format("total_length = {}", total), fmt::format("{} or more", sizes.steps()));
  }
  std::vector<int64_t> shape = data.sizes().slice(1).vec();
  Tensor padded = data;
  if (steps != sizes.steps() || !sizes.are_equal()) {
    std::vector<int64_t> places;
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t row = 0; row < batch; ++row) {
        const bool is_there = step < sizes.steps() && row < sizes.at(step);
        places.push_back(is_there ? sizes.begin_of(step) + row : data.size(0));
      }
    }
    std::vector<int64_t> one = shape;
    one.insert(one.begin(), 1);
    const Tensor padding =
        constant_of([&] { return at::full(one, args.value("padding_value").toScalar(), data.options()); });
    padded = taken(at::cat({data, padding}), places);
  }
  shape.insert(shape.begin(), {steps, batch});
  padded = padded.reshape(shape);
  return {args.boolean("batch_first") ? padded.transpose(0, 1) : padded, constant_of(sizes.lengths())};
}

// The state of a cell: hidden, and an LSTM's cell.
using State = std::vector<Tensor>;

struct Cell {
  std::vector<Tensor> weights;  // for the input, for the state, and two biases, which may be undefined
  State (*step)(const Tensor& input, const State& state, const std::vector<Tensor>& weights);
};

Tensor gates_of(const Tensor& values, const std::vector<Tensor>& weights, size_t number) {
  const c10::optional<Tensor> bias =
      weights[number + 2].defined() ? c10::optional<Tensor>(weights[number + 2]) : c10::nullopt;
  return at::linear(values, weights[number], bias);
}

Tensor gate(const Tensor& gates, int64_t number, int64_t size) {
  return gates.narrow(1, number * size, size);
}

// Computes a step with functional operators: at::lstm_cell and at::gru_cell change gates in place, and so would their
// traces.
State lstm_step(const Tensor& input, const State& state, const std::vector<Tensor>& weights) {
  const Tensor gates = gates_of(input, weights, 0) + gates_of(state[0], weights, 1);
  const int64_t size = state[1].size(1);
  const Tensor forgotten = at::sigmoid(gate(gates, 1, size)) * state[1];
  const Tensor cell = forgotten + at::sigmoid(gate(gates, 0, size)) * at::tanh(gate(gates, 2, size));
  return {at::sigmoid(gate(gates, 3, size)) * at::tanh(cell), cell};
}

State gru_step(const Tensor& input, const State& state, const std::vector<Tensor>& weights) {
  const Tensor of_input = gates_of(input, weights, 0), of_state = gates_of(state[0], weights, 1);
  const int64_t size = state[0].size(1);
  const Tensor reset = at::sigmoid(gate(of_input, 0, size) + gate(of_state, 0, size));
  const Tensor update = at::sigmoid(gate(of_input, 1, size) + gate(of_state, 1, size));
  const Tensor next = at::tanh(gate(of_input, 2, size) + reset * gate(of_state, 2, size));
  return {(state[0] - next) * update + next};
}

template <Tensor (*function)(const Tensor&)>
State simple_step(const Tensor& input, const State& state, const std::vector<Tensor>& weights) {
  return {function(gates_of(input, weights, 0) + gates_of(state[0], weights, 1))};
}

State on_rows(const State& state, int64_t begin, int64_t count) {
  State part;
  for (const Tensor& each : state) part.push_back(each.narrow(0, begin, count));
  return part;
}

State joined_rows(const State& first, const State& second) {
  State all;
  for (size_t i = 0; i < first.size(); ++i) all.push_back(at::cat({first[i], second[i]}));
  return all;
}

// Runs a direction. Forwards, a sequence that ends leaves its last state in `ended`; backwards, it joins with its
// initial state at its end.
Tensor run_direction(const Cell& cell, const BatchSizes& sizes, const Tensor& data, bool is_backward, State& state) {
  std::vector<Tensor> outputs;
  State current = on_rows(state, 0, is_backward ? sizes.rows.back() : sizes.batch()), ended;
  int64_t rows = current[0].size(0);
  for (int64_t i = 0; i < sizes.steps(); ++i) {
    const int64_t step = is_backward ? sizes.steps() - 1 - i : i, needed = sizes.at(step);
    if (needed > rows) current = joined_rows(current, on_rows(state, rows, needed - rows));
    if (needed < rows) {
      const State left = on_rows(current, needed, rows - needed);
      ended = ended.empty() ? left : joined_rows(left, ended);
      current = on_rows(current, 0, needed);
    }
    rows = needed;
    current = cell.step(data.narrow(0, sizes.begin_of(step), rows), current, cell.weights);
    outputs.push_back(current[0]);
  }
  if (is_backward) std::reverse(outputs.begin(), outputs.end());
  state = ended.empty() ? current : joined_rows(current, ended);
  return at::cat(outputs);
}

// Returns the weights of each direction of each layer.
std::vector<std::vector<Tensor>> weights_by_direction(const FormulaArguments& args, int64_t count) {
  const std::vector<Tensor> params = args.value("params").toTensorVector();
  const size_t each = args.boolean("has_biases") ? 4 : 2;
  if (params.size() != each * static_cast<size_t>(count)) {
    throw FormulaRefused(fmt::format("{} weights", params.size()), fmt::format("{}", each * static_cast<size_t>(count)),
                         "NNAPI has no projection of a packed sequence's state: leave out proj_size");
  }
  std::vector<std::vector<Tensor>> weights;
  for (size_t begin = 0; begin < params.size(); begin += each) {
    weights.emplace_back(params.begin() + static_cast<std::ptrdiff_t>(begin),
                         params.begin() + static_cast<std::ptrdiff_t>(begin + each));
    weights.back().resize(4);
  }
  return weights;
}

std::vector<Formed> run_steps(const FormulaArguments& args, const State& initial,
                              State (*step)(const Tensor&, const State&, const std::vector<Tensor>&)) {
  const BatchSizes sizes = batch_sizes(args);
  const int64_t directions = args.boolean("bidirectional") ? 2 : 1, count = args.integer("num_layers") * directions;
  const auto weights = weights_by_direction(args, count);
  std::vector<std::vector<Tensor>> last(initial.size());
  Tensor data = args.tensor("data");
  for (int64_t layer = 0; layer < args.integer("num_layers"); ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t number = layer * directions + direction;
      State state;
      for (const Tensor& each : initial) state.push_back(each.select(0, number));
      const Cell cell{weights[static_cast<size_t>(number)], step};
      outputs.push_back(run_direction(cell, sizes, data, direction == 1, state));
      for (size_t i = 0; i < state.size(); ++i) last[i].push_back(state[i]);
    }
    data = directions == 1 ? outputs[0] : at::cat(outputs, 1);
  }
  std::vector<Formed> results{data};
  for (const std::vector<Tensor>& each : last) results.emplace_back(at::stack(each));
  return results;
}

void require_evaluation(const FormulaArguments& args) {
  if (!args.boolean("train") || args.number("dropout") == 0) return;
  throw FormulaRefused("dropout in training mode", "evaluation mode", "call model.eval() before tracing or scripting");
}

// Returns the sequences as one tensor [steps, batch, features].
Tensor as_one(const Tensor& data, const BatchSizes& sizes) {
  return data.reshape({sizes.steps(), sizes.batch(), data.size(1)});
}

std::vector<Formed> lstm(const FormulaArguments& args) {
  require_evaluation(args);
  const BatchSizes sizes = batch_sizes(args);
  const State initial = args.value("hx").toTensorVector();
  if (!sizes.are_equal()) return run_steps(args, initial, lstm_step);
  const Tensor data = args.tensor("data");
  const auto [output, hidden, cell] =
      at::lstm(as_one(data, sizes), initial, args.value("params").toTensorVector(), args.boolean("has_biases"),
               args.integer("num_layers"), 0, false, args.boolean("bidirectional"), false);
  return {output.reshape({data.size(0), output.size(2)}), hidden, cell};
}

using Layer = std::tuple<Tensor, Tensor> (*)(const Tensor&, const Tensor&, at::TensorList, bool, int64_t, double, bool,
                                             bool, bool);

std::vector<Formed> run_layer(const FormulaArguments& args, Layer layer,
                              State (*step)(const Tensor&, const State&, const std::vector<Tensor>&)) {
  require_evaluation(args);
  const BatchSizes sizes = batch_sizes(args);
  const Tensor initial = args.tensor("hx"), data = args.tensor("data");
  if (!sizes.are_equal()) return run_steps(args, {initial}, step);
  const auto [output, hidden] =
      layer(as_one(data, sizes), initial, args.value("params").toTensorVector(), args.boolean("has_biases"),
            args.integer("num_layers"), 0, false, args.boolean("bidirectional"), false);
  return {output.reshape({data.size(0), output.size(2)}), hidden};
}

std::vector<Formed> gru(const FormulaArguments& args) {
  return run_layer(args, at::gru, gru_step);
}

std::vector<Formed> rnn_tanh(const FormulaArguments& args) {
  return run_layer(args, at::rnn_tanh, simple_step<at::tanh>);
}

std::vector<Formed> rnn_relu(const FormulaArguments& args) {
  return run_layer(args, at::rnn_relu, simple_step<at::relu>);
}

}  // namespace

Formulas packed_formulas() {
  return {
      {"aten::_pack_padded_sequence", has_known_lengths, pack_padded},
      {"aten::_pad_packed_sequence", has_known_batches, pad_packed},
      {"aten::lstm.data", has_known_batches, lstm},
      {"aten::gru.data", has_known_batches, gru},
      {"aten::rnn_tanh.data", has_known_batches, rnn_tanh},
      {"aten::rnn_relu.data", has_known_batches, rnn_relu},
  };
}

}  // namespace nnapi_convert
