// SPDX-License-Identifier: BSD-3-Clause
// Recurrent layers of float32, and their cells: plain loops, for the parts of a model that NNAPI doesn't run.
#include <algorithm>
#include <cmath>

#include "lib/program/arguments.h"
#include "lib/program/dot.h"
#include "lib/program/operator_table.h"
#include "lib/program/view_axes.h"

namespace nnapi_shim::program {

namespace {

enum class Cell : uint8_t { kTanh, kRelu, kGru, kLstm };

constexpr int64_t gate_count(Cell cell) {
  return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1;
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

// The weights of one direction of one layer. The biases are null if there are none.
struct Weights {
  int64_t inputs, hidden;
  const float *of_input, *of_hidden, *input_bias, *hidden_bias;
};

// Computes the gates' products with the input, then those with the state: 2 * gates * hidden numbers in `sums`.
void add_up(const Weights& weights, int64_t rows, const float* input, const float* state, float* sums) {
  for (int64_t i = 0; i < rows; ++i) {
    sums[i] = dot(weights.of_input + i * weights.inputs, input, weights.inputs);
    sums[rows + i] = dot(weights.of_hidden + i * weights.hidden, state, weights.hidden);
    if (weights.input_bias != nullptr) {
      sums[i] += weights.input_bias[i];
      sums[rows + i] += weights.hidden_bias[i];
    }
  }
}

// Runs one step of one sequence: changes `state` and, for an LSTM, `memory`.
void run_step(Cell cell, const Weights& weights, const float* input, float* state, float* memory, float* sums) {
  const int64_t hidden = weights.hidden, rows = gate_count(cell) * hidden;
  add_up(weights, rows, input, state, sums);
  const float* other = sums + rows;
  for (int64_t i = 0; i < hidden; ++i) {
    const auto gate = [&](int64_t number) { return sums[number * hidden + i] + other[number * hidden + i]; };
    switch (cell) {
      case Cell::kTanh:
        state[i] = std::tanh(gate(0));
        break;
      case Cell::kRelu:
        state[i] = gate(0) < 0 ? 0 : gate(0);
        break;
      case Cell::kGru: {
        const float update = sigmoid(gate(1));
        const float made = std::tanh(sums[2 * hidden + i] + sigmoid(gate(0)) * other[2 * hidden + i]);
        state[i] = (state[i] - made) * update + made;
        break;
      }
      case Cell::kLstm:
        memory[i] = sigmoid(gate(1)) * memory[i] + sigmoid(gate(0)) * std::tanh(gate(2));
        state[i] = sigmoid(gate(3)) * std::tanh(memory[i]);
        break;
    }
  }
}

bool need_form(Call& call, const Tensor& tensor, const char* what, uint32_t rank, const int64_t* sizes) {
  if (tensor.dtype != ScalarType::kFloat32) {
    return call.context.fail("%s is %s, needs float32", what, dtype_name(tensor.dtype));
  }
  if (tensor.rank != rank || !std::equal(sizes, sizes + rank, tensor.sizes)) {
    return call.context.fail("%s has other sizes than its layer", what);
  }
  return true;
}

// Reads weights as row-major tensors for the kernels, and keeps them alive.
class WeightReader {
 public:
  // `first` points to the weights of the input; behind it are those of the state, and the biases.
  bool read(Call& call, Cell cell, const Value* const* first, bool has_biases, int64_t inputs, int64_t hidden) {
    const int64_t rows = gate_count(cell) * hidden;
    const int64_t sizes[4][2] = {{rows, inputs}, {rows, hidden}, {rows, 0}, {rows, 0}};
    const char* const names[4] = {"the weight of the input", "the weight of the state", "the bias of the input",
                                  "the bias of the state"};
    const float* places[4] = {};
    for (uint32_t i = 0; i < (has_biases ? 4U : 2U); ++i) {
      Tensor& tensor = first[i]->tensor();
      if (!need_form(call, tensor, names[i], i < 2 ? 2 : 1, sizes[i])) return false;
      kept_[i] = Value(contiguous(call.context.pool, tensor));
      if (kept_[i].is_none()) return call.context.fail_memory();
      places[i] = kept_[i].tensor().data<float>();
    }
    weights_ = {inputs, hidden, places[0], places[1], places[2], places[3]};
    return true;
  }
  const Weights& weights() const { return weights_; }

 private:
  Value kept_[4];
  Weights weights_{};
};

Value floats(Call& call, uint32_t rank, const int64_t* sizes) {
  return Value(make_tensor(call.context.pool, ScalarType::kFloat32, rank, sizes));
}

// The arguments of a recurrent layer, from the list of weights on.
struct Layers {
  const Sequence* weights;
  bool has_biases, is_bidirectional, is_batch_first;
  int64_t count;
  int64_t directions() const { return is_bidirectional ? 2 : 1; }
};

bool read_layers(Call& call, Layers* layers) {
  bool is_training;
  double dropout;
  if (!tensors_at(call, 2, false, &layers->weights) || !bool_at(call, 3, &layers->has_biases)) return false;
  if (!int_at(call, 4, &layers->count) || !number_at(call, 5, &dropout) || !bool_at(call, 6, &is_training))
    return false;
  if (!bool_at(call, 7, &layers->is_bidirectional) || !bool_at(call, 8, &layers->is_batch_first)) return false;
  if (is_training && dropout != 0) return call.context.fail("dropout of a layer in training");
  const int64_t each = layers->directions() * (layers->has_biases ? 4 : 2);
  if (layers->count < 1 || layers->count > layers->weights->count / each ||
      layers->count * each != layers->weights->count) {
    return call.context.fail("%lld layers and %u weights, each layer has %lld", static_cast<long long>(layers->count),
                             layers->weights->count, static_cast<long long>(each));
  }
  return true;
}

// Returns the first argument as [steps, batch, inputs], row-major.
Value read_sequence(Call& call, const Layers& layers) {
  Tensor* input;
  if (!tensor_at(call, 0, &input)) return {};
  if (input->rank != 3 || input->dtype != ScalarType::kFloat32) {
    call.context.fail("a recurrent layer needs float32 of 3 axes, found %s of %u", dtype_name(input->dtype),
                      input->rank);
    return {};
  }
  const Value view(make_view(call.context.pool, *input));
  if (view.is_none()) {
    call.context.fail_memory();
    return {};
  }
  if (layers.is_batch_first) swap_axes(view.tensor(), 0, 1);
  if (view.tensor().sizes[0] == 0) {
    call.context.fail("a sequence has no steps");
    return {};
  }
  Value result(contiguous(call.context.pool, view.tensor()));
  if (result.is_none()) call.context.fail_memory();
  return result;
}

// Reads copies of the states, which the steps change: for an LSTM its state and its memory, for others one state.
// `layers` is their first size; 0 for cells, whose states have no such axis.
bool read_states(Call& call, Cell cell, int64_t layers, int64_t batch, Value* states) {
  const Tensor* given[2] = {};
  if (cell == Cell::kLstm) {
    const Sequence* list;
    if (!tensors_at(call, 1, false, &list)) return false;
    if (list->count != 2) return call.context.fail("an LSTM has 2 states, found %u", list->count);
    for (uint32_t i = 0; i < 2; ++i) given[i] = &list->values[i].tensor();
  } else {
    Tensor* state;
    if (!tensor_at(call, 1, &state)) return false;
    given[0] = state;
  }
  const uint32_t rank = layers == 0 ? 2 : 3;
  const int64_t hidden = given[0]->rank == rank ? given[0]->sizes[rank - 1] : 0;
  const int64_t sizes[3] = {layers == 0 ? batch : layers, layers == 0 ? hidden : batch, hidden};
  for (uint32_t i = 0; i < 2 && given[i] != nullptr; ++i) {
    if (!need_form(call, *given[i], i == 0 ? "the state" : "the state of an LSTM's memory", rank, sizes)) return false;
    states[i] = Value(row_major_copy(call.context.pool, *given[i], ScalarType::kFloat32));
    if (states[i].is_none()) return call.context.fail_memory();
  }
  return true;
}

// Returns memory for the gates' sums; None after failing.
Value make_sums(Call& call, Cell cell, int64_t hidden) {
  int64_t count;
  Value sums;
  if (!__builtin_mul_overflow(hidden, 2 * gate_count(cell), &count)) sums = floats(call, 1, &count);
  if (sums.is_none()) call.context.fail_memory();
  return sums;
}

// Runs one direction of one layer over all sequences. Writes to `output` [steps, batch, width] from `column` on.
void run_direction(Cell cell, const Weights& weights, bool is_backward, const Tensor& input, float* state,
                   float* memory, float* sums, float* output, int64_t width, int64_t column) {
  if (weights.hidden == 0) return;  // then there may be any number of sequences
  const int64_t steps = input.sizes[0], batch = input.sizes[1];
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t step = is_backward ? steps - 1 - i : i;
    for (int64_t k = 0; k < batch; ++k) {
      const int64_t row = step * batch + k;
      float* own = state + k * weights.hidden;
      run_step(cell, weights, input.data<float>() + row * weights.inputs, own,
               memory == nullptr ? nullptr : memory + k * weights.hidden, sums);
      std::copy(own, own + weights.hidden, output + row * width + column);
    }
  }
}

bool run_layers(Call& call, Cell cell) {
  Layers layers{};
  if (!read_layers(call, &layers)) return false;
  Value sequence = read_sequence(call, layers);
  if (sequence.is_none()) return false;
  const int64_t steps = sequence.tensor().sizes[0], batch = sequence.tensor().sizes[1];
  const int64_t directions = layers.directions();
  Value states[2];
  if (!read_states(call, cell, layers.count * directions, batch, states)) return false;
  const int64_t hidden = states[0].tensor().sizes[2];
  const Value sums = make_sums(call, cell, hidden);
  if (sums.is_none()) return false;
  const uint32_t each = layers.has_biases ? 4 : 2;
  for (int64_t layer = 0; layer < layers.count; ++layer) {
    const int64_t sizes[3] = {steps, batch, hidden * directions};
    Value output = floats(call, 3, sizes);
    if (output.is_none()) return call.context.fail_memory();
    for (int64_t direction = 0; direction < directions; ++direction) {
      const int64_t number = layer * directions + direction;
      const Value* given[4] = {};
      for (uint32_t i = 0; i < each; ++i) given[i] = &layers.weights->values[number * each + i];
      WeightReader reader;
      if (!reader.read(call, cell, given, layers.has_biases, sequence.tensor().sizes[2], hidden)) return false;
      const int64_t begin = number * batch * hidden;
      float* memory = cell == Cell::kLstm ? states[1].tensor().data<float>() + begin : nullptr;
      run_direction(cell, reader.weights(), direction == 1, sequence.tensor(), states[0].tensor().data<float>() + begin,
                    memory, sums.tensor().data<float>(), output.tensor().data<float>(), sizes[2], direction * hidden);
    }
    sequence = output;
  }
  if (layers.is_batch_first) swap_axes(sequence.tensor(), 0, 1);
  call.outputs[0] = sequence;
  call.outputs[1] = states[0];
  if (cell == Cell::kLstm) call.outputs[2] = states[1];
  return true;
}
template <Cell kCell>
bool layers_of(Call& call) {
  return run_layers(call, kCell);
}

bool run_cell(Call& call, Cell cell) {
  Tensor *input, *first_bias, *second_bias, *weights[2];
  if (!tensor_at(call, 0, &input) || !tensor_at(call, 2, &weights[0]) || !tensor_at(call, 3, &weights[1])) return false;
  if (!optional_tensor_at(call, 4, &first_bias) || !optional_tensor_at(call, 5, &second_bias)) return false;
  if ((first_bias == nullptr) != (second_bias == nullptr)) return call.context.fail("a cell needs two biases or none");
  if (input->rank != 2) return call.context.fail("a cell needs an input of 2 axes, found %u", input->rank);
  const int64_t batch = input->sizes[0], inputs = input->sizes[1];
  const int64_t input_sizes[2] = {batch, inputs};
  if (!need_form(call, *input, "the input", 2, input_sizes)) return false;
  Value states[2];
  if (!read_states(call, cell, 0, batch, states)) return false;
  const int64_t hidden = states[0].tensor().sizes[1];
  const Value* const read[4] = {&call.input(2), &call.input(3), &call.input(4), &call.input(5)};
  WeightReader reader;
  if (!reader.read(call, cell, read, first_bias != nullptr, inputs, hidden)) return false;
  const Value sums = make_sums(call, cell, hidden), rows(contiguous(call.context.pool, *input));
  if (sums.is_none() || rows.is_none()) return call.context.fail_memory();
  for (int64_t i = 0; i < batch && hidden > 0; ++i) {
    run_step(
        cell, reader.weights(), rows.tensor().data<float>() + i * inputs, states[0].tensor().data<float>() + i * hidden,
        cell == Cell::kLstm ? states[1].tensor().data<float>() + i * hidden : nullptr, sums.tensor().data<float>());
  }
  call.outputs[0] = states[0];
  if (cell == Cell::kLstm) call.outputs[1] = states[1];
  return true;
}
template <Cell kCell>
bool cell_of(Call& call) {
  return run_cell(call, kCell);
}

constexpr OperatorRow kRows[] = {
    {"aten::gru.input", 9, 2, layers_of<Cell::kGru>},       {"aten::gru_cell", 6, 1, cell_of<Cell::kGru>},
    {"aten::lstm.input", 9, 3, layers_of<Cell::kLstm>},     {"aten::lstm_cell", 6, 2, cell_of<Cell::kLstm>},
    {"aten::rnn_relu.input", 9, 2, layers_of<Cell::kRelu>}, {"aten::rnn_relu_cell", 6, 1, cell_of<Cell::kRelu>},
    {"aten::rnn_tanh.input", 9, 2, layers_of<Cell::kTanh>}, {"aten::rnn_tanh_cell", 6, 1, cell_of<Cell::kTanh>},
};

}  // namespace

const OperatorTable recurrent_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
