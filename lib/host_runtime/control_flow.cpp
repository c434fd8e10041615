// SPDX-License-Identifier: BSD-3-Clause
// Computes IF and WHILE, which run other models.
#include "lib/format/operation_table.h"
#include "lib/host_runtime/kernels.h"
#include "lib/host_runtime/model.h"

namespace nnapi_convert::host {
namespace {

std::string describe(const Operand& operand, const Shape& shape) {
  std::string text = name_of(operand.type);
  if (is_tensor(operand.type)) text += " " + to_string(shape);
  if (operand.scale != 0) text += fmt::format(", scale {}, zero point {}", operand.scale, operand.zero_point);
  if (operand.channels) text += fmt::format(", scales along dimension {}", operand.channels->dim);
  return text;
}

bool same_channels(const Operand& a, const Operand& b) {
  if (a.channels.has_value() != b.channels.has_value()) return false;
  return !a.channels || (a.channels->dim == b.channels->dim && a.channels->scales == b.channels->scales);
}

// An operand and its shape, as the operation or one of its models declares them.
struct Declared {
  const Operand& operand;
  const Shape& shape;
};

bool agree(const Declared& a, const Declared& b) {
  return a.operand.type == b.operand.type && a.operand.scale == b.operand.scale &&
         a.operand.zero_point == b.operand.zero_point && same_channels(a.operand, b.operand) &&
         merged(a.shape, b.shape);
}

Declared input_of(const Model& model, std::size_t n) {
  const uint32_t index = model.inputs()[n];
  return {model.operands()[index], model.shapes()[index]};
}

Declared output_of(const Model& model, std::size_t n) {
  const uint32_t index = model.outputs()[n];
  return {model.operands()[index], model.shapes()[index]};
}

Declared argument_of(const OpContext& context, const char* name, std::size_t n) {
  return {context.operand(name, n), context.shape(name, n)};
}

const Model& model_at(const OpContext& context, const char* argument) {
  return *context.operand(argument).model;
}

void require_counts(const OpContext& context, const char* argument, std::size_t inputs, std::size_t least_outputs,
                    std::size_t most_outputs) {
  const Model& model = model_at(context, argument);
  if (model.inputs().size() != inputs) {
    context.refuse(argument, "a model of {} inputs found, {} needed", model.inputs().size(), inputs);
  }
  const std::size_t outputs = model.outputs().size();
  if (outputs >= least_outputs && outputs <= most_outputs) return;
  if (least_outputs == most_outputs) {
    context.refuse(argument, "a model of {} outputs found, {} needed", outputs, least_outputs);
  }
  context.refuse(argument, "a model of {} outputs found, {} to {} needed", outputs, least_outputs, most_outputs);
}

void require_agreement(const OpContext& context, const char* argument, const char* what, std::size_t n,
                       const Declared& found, const Declared& needed) {
  if (agree(found, needed)) return;
  context.refuse(argument, "{} {} of the model is {}, {} needed", what, n, describe(found.operand, found.shape),
                 describe(needed.operand, needed.shape));
}

void require_inputs(const OpContext& context, const char* argument) {
  for (std::size_t n = 0; n < context.count("inputs"); ++n) {
    require_agreement(context, argument, "input", n, input_of(model_at(context, argument), n),
                      argument_of(context, "inputs", n));
  }
}

void require_outputs(const OpContext& context, const char* argument) {
  for (std::size_t n = 0; n < context.count("outputs"); ++n) {
    require_agreement(context, argument, "output", n, output_of(model_at(context, argument), n),
                      argument_of(context, "outputs", n));
  }
}

// Sets an output whose extents are the same in both cases.
void set_certain_output(OpContext& context, std::size_t n, const Shape& one, const Shape& other) {
  if (one.known() && other.known() && one.dims == other.dims) context.set_output(one.dims, n);
}

bool holds(const at::Tensor& condition) {
  return *static_cast<const uint8_t*>(condition.data_ptr()) != 0;
}

}  // namespace

void if_rule(OpContext& context) {
  const Shape& condition = context.shape("condition");
  if (condition.known() && condition.dims != Dims{1}) {
    context.refuse("condition", "dimensions {} found, [1] needed", to_string(condition));
  }
  const std::size_t outputs = context.count("outputs");
  for (const char* branch : {"then_model", "else_model"}) {
    require_counts(context, branch, context.count("inputs"), outputs, outputs);
    require_inputs(context, branch);
    require_outputs(context, branch);
  }
  for (std::size_t n = 0; n < outputs; ++n) {
    set_certain_output(context, n, output_of(model_at(context, "then_model"), n).shape,
                       output_of(model_at(context, "else_model"), n).shape);
  }
}

void if_else(OpContext& context) {
  const char* branch = holds(context.stored("condition")) ? "then_model" : "else_model";
  const std::vector<Value> outputs = context.run_model(branch, context.values("inputs"));
  for (std::size_t n = 0; n < outputs.size(); ++n) context.put_value(outputs[n], n);
}

// The body's first outputs are the operation's outputs; only the next run of the body sees the others.
void while_rule(OpContext& context) {
  const std::size_t inputs = context.count("inputs"), outputs = context.count("outputs");
  require_counts(context, "condition_model", inputs, 1, 1);
  require_counts(context, "body_model", inputs, outputs, inputs);
  require_inputs(context, "condition_model");
  require_inputs(context, "body_model");
  require_outputs(context, "body_model");
  const Declared condition = output_of(model_at(context, "condition_model"), 0);
  if (condition.operand.type != OperandCode::TENSOR_BOOL8 || !merged(condition.shape, {true, {1}})) {
    context.refuse("condition_model", "its output is {}, TENSOR_BOOL8 [1] needed",
                   describe(condition.operand, condition.shape));
  }
  const Model& body = model_at(context, "body_model");
  for (std::size_t n = 0; n < body.outputs().size(); ++n) {
    require_agreement(context, "body_model", "output", n, output_of(body, n), input_of(body, n));
  }
  for (std::size_t n = 0; n < outputs; ++n) {
    set_certain_output(context, n, output_of(body, n).shape, context.shape("inputs", n));
  }
}

void while_loop(OpContext& context) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + context.loop_timeout();
  std::vector<Value> state = context.values("inputs");
  for (int64_t iteration = 0; holds(context.run_model("condition_model", state, iteration)[0].codes); ++iteration) {
    if (Clock::now() >= end) {
      fail(ResultCode::MISSED_DEADLINE_TRANSIENT, "{}: {} runs in the loop's time of {} ns, and the condition holds",
           context.subject(), iteration, context.loop_timeout().count());
    }
    std::vector<Value> next = context.run_model("body_model", state, iteration);
    std::move(next.begin(), next.end(), state.begin());
  }
  for (std::size_t n = 0; n < context.count("outputs"); ++n) context.put_value(state[n], n);
}

}  // namespace nnapi_convert::host
