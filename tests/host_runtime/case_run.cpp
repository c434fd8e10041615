// SPDX-License-Identifier: BSD-3-Clause
#include "tests/host_runtime/case_run.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "lib/format/nnapi_codes.h"
#include "lib/host_runtime/neural_networks.h"
#include "tests/host_runtime/case_model.h"
#include "tests/host_runtime/vector_numbers.h"

namespace conformance {
namespace {

using vectors::Case;
using vectors::Operand;

using Compilation = std::unique_ptr<ANeuralNetworksCompilation, decltype(&ANeuralNetworksCompilation_free)>;
using Execution = std::unique_ptr<ANeuralNetworksExecution, decltype(&ANeuralNetworksExecution_free)>;
using Burst = std::unique_ptr<ANeuralNetworksBurst, decltype(&ANeuralNetworksBurst_free)>;

constexpr uint8_t kUntouched = 0xa5;
constexpr uint64_t kShortLoopTimeout = 1000000;  // nanoseconds

bool has_to_time_out(const Case& test) {
  return test.name.rfind("while_infinite_loop", 0) == 0;
}

Compilation compile(const CaseModel& model) {
  ANeuralNetworksCompilation* compilation = nullptr;
  check(ANeuralNetworksCompilation_create(model.get(), &compilation), "Compilation_create");
  Compilation owner(compilation, ANeuralNetworksCompilation_free);
  check(ANeuralNetworksCompilation_finish(compilation), "Compilation_finish");
  return owner;
}

Execution new_execution(const Compilation& compilation) {
  ANeuralNetworksExecution* execution = nullptr;
  check(ANeuralNetworksExecution_create(compilation.get(), &execution), "Execution_create");
  return Execution(execution, ANeuralNetworksExecution_free);
}

// Inputs and outputs, each in buffers of their own or in one shared memory.
class Arguments {
 public:
  Arguments(const Case& test, const Case& original, bool shared);

  void set(ANeuralNetworksExecution* execution) const;
  std::vector<uint8_t> output(std::size_t position) const;
  void clear_outputs();
  // The memory around the outputs has not changed.
  void require_untouched() const;

 private:
  struct Piece {
    std::size_t offset = 0, length = 0;
  };

  std::unique_ptr<SharedMemory> place(std::vector<Piece>& pieces) const;

  std::vector<std::vector<uint8_t>> inputs_, outputs_;
  std::vector<Piece> input_pieces_, output_pieces_;
  std::unique_ptr<SharedMemory> input_memory_, output_memory_;
};

std::size_t output_elements(const Operand& operand) {
  if (!operand.expected.empty()) return operand.expected.size();
  std::size_t elements = 1;
  for (const uint32_t extent : operand.dims) elements *= extent;
  return elements;
}

Arguments::Arguments(const Case& test, const Case& original, bool shared) {
  for (const uint32_t index : test.main.inputs) {
    const Operand& operand = test.main.operands[index];
    inputs_.push_back(vectors::to_bytes(operand.type, operand.values));
    input_pieces_.push_back({0, inputs_.back().size()});
  }
  for (const uint32_t index : test.main.outputs) {
    const Operand& operand = original.main.operands[index];
    const std::vector<double> zeros(output_elements(operand), 0);
    outputs_.push_back(vectors::to_bytes(operand.type, zeros));
    // A result without elements needs a buffer nonetheless: a null pointer would omit it.
    if (outputs_.back().empty()) outputs_.back().resize(1);
    output_pieces_.push_back({0, outputs_.back().size()});
  }
  if (!shared) return;
  input_memory_ = place(input_pieces_);
  output_memory_ = place(output_pieces_);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::copy(inputs_[i].begin(), inputs_[i].end(), input_memory_->data() + input_pieces_[i].offset);
  }
}

std::unique_ptr<SharedMemory> Arguments::place(std::vector<Piece>& pieces) const {
  Layout layout;
  for (Piece& piece : pieces) piece.offset = layout.add(piece.length);
  auto memory = std::make_unique<SharedMemory>(layout.size());
  std::fill_n(memory->data(), memory->size(), kUntouched);
  return memory;
}

void Arguments::set(ANeuralNetworksExecution* execution) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const auto& [offset, length] = input_pieces_[i];
    if (length == 0) {
      check(ANeuralNetworksExecution_setInput(execution, index, nullptr, nullptr, 0), "setInput");
    } else if (input_memory_) {
      check(
          ANeuralNetworksExecution_setInputFromMemory(execution, index, nullptr, input_memory_->get(), offset, length),
          "setInputFromMemory");
    } else {
      check(ANeuralNetworksExecution_setInput(execution, index, nullptr, inputs_[i].data(), length), "setInput");
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const auto& [offset, length] = output_pieces_[i];
    if (output_memory_) {
      check(ANeuralNetworksExecution_setOutputFromMemory(execution, index, nullptr, output_memory_->get(), offset,
                                                         length),
            "setOutputFromMemory");
    } else {
      check(ANeuralNetworksExecution_setOutput(execution, index, nullptr, const_cast<uint8_t*>(outputs_[i].data()),
                                               length),
            "setOutput");
    }
  }
}

std::vector<uint8_t> Arguments::output(std::size_t position) const {
  if (!output_memory_) return outputs_[position];
  const Piece& piece = output_pieces_[position];
  const uint8_t* first = output_memory_->data() + piece.offset;
  return std::vector<uint8_t>(first, first + piece.length);
}

void Arguments::clear_outputs() {
  for (std::vector<uint8_t>& output : outputs_) std::fill(output.begin(), output.end(), 0);
}

void Arguments::require_untouched() const {
  if (!output_memory_) return;
  std::size_t begin = 0;
  const auto untouched = [&](std::size_t end) {
    const uint8_t* data = output_memory_->data();
    return std::all_of(data + begin, data + end, [](uint8_t byte) { return byte == kUntouched; });
  };
  for (const Piece& piece : output_pieces_) {
    if (!untouched(piece.offset)) throw std::runtime_error("bytes before an output changed");
    begin = piece.offset + piece.length;
  }
  if (!untouched(output_memory_->size())) throw std::runtime_error("bytes after the outputs changed");
}

void compare_dims(const Case& original, uint32_t index, std::size_t position, ANeuralNetworksExecution* execution) {
  const Operand& operand = original.main.operands[index];
  const std::vector<uint32_t>& expected = operand.dims;
  if (!vectors::is_tensor(operand.type) || operand.ignored) return;
  const bool unknown = std::find(expected.begin(), expected.end(), 0u) != expected.end();
  if (expected.empty() || (unknown && !original.zero_sized)) return;
  uint32_t rank = 0;
  check(ANeuralNetworksExecution_getOutputOperandRank(execution, static_cast<int32_t>(position), &rank), "rank");
  std::vector<uint32_t> found(rank);
  check(ANeuralNetworksExecution_getOutputOperandDimensions(execution, static_cast<int32_t>(position), found.data()),
        "dimensions");
  if (found != expected) throw std::runtime_error("output " + std::to_string(position) + " has other dimensions");
}

void compare_values(const Case& test, uint32_t index, std::size_t position, const std::vector<uint8_t>& bytes) {
  const Operand& operand = test.main.operands[index];
  if (operand.ignored || operand.expected.empty()) return;
  const auto given = test.tolerances.find(operand.type);
  const vectors::Tolerance tolerance = given == test.tolerances.end() ? vectors::Tolerance() : given->second;
  const std::vector<double> found = vectors::from_bytes(operand.type, bytes);
  for (std::size_t i = 0; i < operand.expected.size(); ++i) {
    const double expected = vectors::rounded_to(operand.type, operand.expected[i]);
    if (std::abs(found[i] - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected)) continue;
    throw std::runtime_error("output " + std::to_string(position) + "[" + std::to_string(i) + "] is " +
                             std::to_string(found[i]) + ", " + std::to_string(expected) + " expected");
  }
}

std::vector<double> probabilities(const double* logits, std::size_t classes) {
  const double greatest = *std::max_element(logits, logits + classes);
  std::vector<double> result;
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += result.emplace_back(std::exp(logits[c] - greatest));
  for (double& probability : result) probability /= sum;
  return result;
}

// Samples of RANDOM_MULTINOMIAL: each class has to occur as often as its logit says.
void compare_frequencies(const Case& test, const std::vector<uint8_t>& bytes) {
  const Operand& logits = test.main.operands[test.main.inputs[0]];
  const Operand& output = test.main.operands[test.main.outputs[0]];
  const std::vector<double> samples = vectors::from_bytes(output.type, bytes);
  const std::size_t batches = logits.dims.at(0), classes = logits.dims.at(1), count = samples.size() / batches;
  for (std::size_t n = 0; n < batches; ++n) {
    std::vector<double> frequencies(classes);
    for (std::size_t i = 0; i < count; ++i) {
      const auto sample = static_cast<std::size_t>(samples[n * count + i]);
      if (sample >= classes) throw std::runtime_error("a sample is no class: " + std::to_string(sample));
      frequencies[sample] += 1.0 / static_cast<double>(count);
    }
    const std::vector<double> expected = probabilities(logits.values.data() + n * classes, classes);
    for (std::size_t c = 0; c < classes; ++c) {
      if (std::abs(frequencies[c] - expected[c]) <= *test.multinomial) continue;
      throw std::runtime_error("class " + std::to_string(c) + " has the frequency " + std::to_string(frequencies[c]) +
                               ", " + std::to_string(expected[c]) + " expected");
    }
  }
}

void compare(const Case& test, const Case& original, ANeuralNetworksExecution* execution, const Arguments& arguments) {
  for (std::size_t i = 0; i < test.main.outputs.size(); ++i) {
    compare_dims(original, test.main.outputs[i], i, execution);
    compare_values(test, test.main.outputs[i], i, arguments.output(i));
  }
  if (test.multinomial) compare_frequencies(test, arguments.output(0));
  arguments.require_untouched();
}

void compute_through_burst(ANeuralNetworksExecution* execution, ANeuralNetworksCompilation* compilation) {
  ANeuralNetworksBurst* burst = nullptr;
  check(ANeuralNetworksBurst_create(compilation, &burst), "Burst_create");
  const Burst owner(burst, ANeuralNetworksBurst_free);
  check(ANeuralNetworksExecution_burstCompute(execution, burst), "burstCompute");
}

void require_timeout(const Refused& refused) {
  using nnapi_convert::ResultCode;
  for (const ResultCode code : {ResultCode::MISSED_DEADLINE_TRANSIENT, ResultCode::MISSED_DEADLINE_PERSISTENT}) {
    if (refused.code == static_cast<int>(code)) return;
  }
  throw std::runtime_error(std::string("no loop timeout: ") + refused.what());
}

void execute(const Case& test, const Case& original, Way way) {
  const CaseModel model(test);
  const Compilation compilation = compile(model);
  const Execution execution = new_execution(compilation);
  if (has_to_time_out(test)) {
    check(ANeuralNetworksExecution_setLoopTimeout(execution.get(), kShortLoopTimeout), "setLoopTimeout");
  }
  if (way == Way::kReusable) check(ANeuralNetworksExecution_setReusable(execution.get(), true), "setReusable");
  Arguments arguments(test, original, way == Way::kMemories);
  arguments.set(execution.get());
  if (way == Way::kBurst) {
    compute_through_burst(execution.get(), compilation.get());
  } else {
    check(ANeuralNetworksExecution_compute(execution.get()), "compute");
  }
  compare(test, original, execution.get(), arguments);
  if (way != Way::kReusable) return;
  arguments.clear_outputs();
  check(ANeuralNetworksExecution_compute(execution.get()), "second compute");
  compare(test, original, execution.get(), arguments);
}

}  // namespace

void run_case(const Case& test, const Case& original, Way way) {
  if (!test.expect_failure) return execute(test, original, way);
  try {
    execute(test, original, way);
  } catch (const Refused& refused) {
    if (has_to_time_out(test)) require_timeout(refused);
    return;
  }
  throw std::runtime_error("it works, a failure expected");
}

}  // namespace conformance
