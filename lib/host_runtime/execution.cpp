#include "lib/host_runtime/execution.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {

Compilation::Compilation(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  if (!model_->finished()) fail(ResultCode::BAD_STATE, "compilation: the model is not finished");
}

void Compilation::set_preference(int32_t preference) {
  if (finished_) fail(ResultCode::BAD_STATE, "setPreference: the compilation is finished already");
  if (preference < 0 || preference > static_cast<int32_t>(PreferenceCode::SUSTAINED_SPEED)) {
    bad_data("setPreference: {} found, 0 to 2 needed", preference);
  }
}

void Compilation::finish() {
  if (finished_) fail(ResultCode::BAD_STATE, "finish: the compilation is finished already");
  program_ = std::make_unique<const Program>(*model_);
  finished_ = true;
}

Execution::Execution(std::shared_ptr<const Compilation> compilation) : compilation_(std::move(compilation)) {
  if (!compilation_->finished()) fail(ResultCode::BAD_STATE, "execution: the compilation is not finished");
  inputs_.resize(compilation_->model().inputs().size());
  outputs_.resize(compilation_->model().outputs().size());
}

Execution::Argument& Execution::argument(std::vector<Argument>& arguments, int32_t index, const char* what) {
  if (started_) fail(ResultCode::BAD_STATE, "{} {}: the execution has started already", what, index);
  if (index < 0 || static_cast<std::size_t>(index) >= arguments.size()) {
    bad_data("{} index {} found, below {} needed", what, index, arguments.size());
  }
  Argument& result = arguments[static_cast<std::size_t>(index)];
  if (result.set) bad_data("{} {}: set before", what, index);
  return result;
}

Shape Execution::merged_shape(const Operand& operand, const ANeuralNetworksOperandType* type,
                              const std::string& subject) const {
  if (!type) return operand.shape;
  if (type->type != static_cast<int32_t>(operand.type)) {
    bad_data("{}: type {} found, {} needed", subject, name_of(static_cast<OperandCode>(type->type)),
             name_of(operand.type));
  }
  const Operand given = make_operand(*type, subject, compilation_->model().feature_level());
  if (given.scale != operand.scale || given.zero_point != operand.zero_point) {
    bad_data("{}: scale {}, zero point {} found, {}, {} needed", subject, given.scale, given.zero_point, operand.scale,
             operand.zero_point);
  }
  std::optional<Shape> both = merged(operand.shape, given.shape);
  if (!both) bad_data("{}: dimensions {} found, {} needed", subject, to_string(given.shape), to_string(operand.shape));
  return *std::move(both);
}

void Execution::set_input(int32_t index, const ANeuralNetworksOperandType* type, const void* buffer,
                          std::size_t length) {
  Argument& input = argument(inputs_, index, "input");
  const Model& model = compilation_->model();
  const Operand& operand = model.operands()[model.inputs()[static_cast<std::size_t>(index)]];
  const std::string subject = fmt::format("input {}", index);
  Shape shape = merged_shape(operand, type, subject);
  if (!buffer && length != 0) bad_data("{}: no buffer found for {} bytes", subject, length);
  if (buffer && !shape.known()) bad_data("{}: dimensions {} found, known ones needed", subject, to_string(shape));
  if (buffer && length != static_cast<uint64_t>(byte_length(operand.type, shape))) {
    bad_data("{}: {} bytes found, {} needed", subject, length, byte_length(operand.type, shape));
  }
  input = {true, std::move(shape), const_cast<void*>(buffer), length, true};
}

void Execution::set_output(int32_t index, const ANeuralNetworksOperandType* type, void* buffer, std::size_t length) {
  Argument& output = argument(outputs_, index, "output");
  const Model& model = compilation_->model();
  const Operand& operand = model.operands()[model.outputs()[static_cast<std::size_t>(index)]];
  const std::string subject = fmt::format("output {}", index);
  Shape shape = merged_shape(operand, type, subject);
  if (!buffer && length != 0) bad_data("{}: no buffer found for {} bytes", subject, length);
  if (buffer && shape.known() && length != static_cast<uint64_t>(byte_length(operand.type, shape))) {
    bad_data("{}: {} bytes found, {} needed", subject, length, byte_length(operand.type, shape));
  }
  output = {true, std::move(shape), buffer, length, true};
}

void Execution::require_all_set() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].set) bad_data("compute: input {} is not set", i);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].set) bad_data("compute: output {} is not set", i);
  }
}

std::vector<Value> Execution::input_values() const {
  const Model& model = compilation_->model();
  std::vector<Value> values(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].buffer) continue;  // omitted
    const OperandCode type = model.operands()[model.inputs()[i]].type;
    values[i] = {inputs_[i].shape, view_of(inputs_[i].buffer, type, inputs_[i].shape.dims)};
  }
  return values;
}

void Execution::write_outputs(const std::vector<Value>& values) {
  const Model& model = compilation_->model();
  std::string complaint;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const OperandCode type = model.operands()[model.outputs()[i]].type;
    Argument& output = outputs_[i];
    output.shape = values[i].shape;
    const int64_t needed = byte_length(type, output.shape);
    output.fits = output.length >= static_cast<uint64_t>(needed);
    if (!output.fits && complaint.empty()) {
      complaint = fmt::format("output {}: {} bytes found, {} needed", i, output.length, needed);
    }
    if (output.fits && needed > 0) view_of(output.buffer, type, output.shape.dims).copy_(values[i].codes);
  }
  computed_ = true;
  if (!complaint.empty()) fail(ResultCode::OUTPUT_INSUFFICIENT_SIZE, "{}", complaint);
}

void Execution::set_loop_timeout(uint64_t nanoseconds) {
  if (started_) fail(ResultCode::BAD_STATE, "setLoopTimeout: the execution has started already");
  const auto most = static_cast<uint64_t>(kMaximumLoopTimeout.count());
  settings_.loop_timeout = std::chrono::nanoseconds(std::min(nanoseconds, most));
  if (nanoseconds == 0) settings_.loop_timeout = kDefaultLoopTimeout;
}

void Execution::compute() {
  if (started_) fail(ResultCode::BAD_STATE, "compute: the execution has started already");
  require_all_set();
  started_ = true;
  const c10::InferenceMode inference;
  std::vector<Shape> declared;
  for (const Argument& output : outputs_) declared.push_back(output.shape);
  write_outputs(Run(compilation_->program(), settings_).compute(input_values(), declared));
}

const Dims& Execution::output_dims(int32_t index) const {
  if (!computed_) fail(ResultCode::BAD_STATE, "output {}: its shape is not computed yet", index);
  if (index < 0 || static_cast<std::size_t>(index) >= outputs_.size()) {
    bad_data("output index {} found, below {} needed", index, outputs_.size());
  }
  return outputs_[static_cast<std::size_t>(index)].shape.dims;
}

bool Execution::output_fits(int32_t index) const {
  return outputs_[static_cast<std::size_t>(index)].fits;
}

}  // namespace nnapi_convert::host
