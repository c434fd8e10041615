// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/program_model.h"

#include <utility>

#include "lib/program/values.h"
#include "lib/shim/failure.h"
#include "lib/shim/named_arguments.h"
#include "lib/shim/named_results.h"
#include "lib/shim/segment_call.h"

namespace nnapi_shim {
namespace {

using program::Context;
using program::Value;

int fail_use(nnapi_shim_error* error) {
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
              "the model runs NNAPI between steps of its own, and has no inputs and outputs of NNAPI; use "
              "nnapi_shim_call");
}

constexpr uint32_t kMostFailures = 3;

// Runs segments on NNAPI. If NNAPI can't run a segment, the program's method for it computes it, if there is one; after
// three failures in a row NNAPI is not asked again.
class Runner final : public program::SegmentRunner {
 public:
  Runner(const program::Program& program, const Segments& segments, std::atomic<uint32_t>* failures,
         const NamedTensors& named)
      : program_(program), segments_(segments), failures_(failures), named_(named) {}

  bool run_segment(uint32_t segment, Context& context, const Value* const* inputs, Value* outputs) override {
    return run(segment, context, inputs, outputs, [&](Value* made, nnapi_shim_error* error) {
      const int result = call_segment(*segments_[segment], context, inputs, made, false, error);
      if (result == NNAPI_SHIM_BAD_ARGUMENT) blame(segment, inputs, false, *error);
      return result;
    });
  }

  bool run_raw_segment(uint32_t segment, Context& context, const Value* const* arguments_and_inputs, uint32_t arguments,
                       uint32_t inputs, Value* outputs) override {
    return run(segment, context, arguments_and_inputs, outputs, [&](Value* made, nnapi_shim_error* error) {
      const int result = call_raw_segment(*segments_[segment], context, arguments_and_inputs,
                                          arguments_and_inputs + arguments, inputs, made, error);
      if (result == NNAPI_SHIM_BAD_ARGUMENT) blame(segment, arguments_and_inputs, true, *error);
      return result;
    });
  }

  int status = NNAPI_SHIM_OK;
  int nnapi_code = 0;
  // The error for a wrong argument of the call; its status is NNAPI_SHIM_OK if there was none. It names the argument by
  // the caller's path, not by the place in the program where NNAPI would have read it.
  nnapi_shim_error wrong_argument{};

 private:
  void blame(uint32_t segment, const Value* const* inputs, bool takes_codes, nnapi_shim_error& error) {
    if (blame_argument(*segments_[segment], inputs, takes_codes, named_, &error)) wrong_argument = error;
  }

  template <typename Call>
  bool run(uint32_t segment, Context& context, const Value* const* arguments, Value* outputs, const Call& call) {
    const bool has_cpu_form = program_.segments()[segment].fallback_plus_1 > 0;
    const bool asks_nnapi = !has_cpu_form || failures_[segment] < kMostFailures;
    nnapi_shim_error error{};
    status = call(asks_nnapi ? outputs : nullptr, &error);
    if (status == NNAPI_SHIM_OK) {
      if (!asks_nnapi) return compute(segment, context, arguments, outputs);
      if (has_cpu_form) failures_[segment] = 0;
      return true;
    }
    // A wrong argument is wrong on the CPU, too.
    const bool is_of_nnapi = status != NNAPI_SHIM_BAD_ARGUMENT && status != NNAPI_SHIM_BAD_MODEL;
    if (is_of_nnapi && has_cpu_form) {
      ++failures_[segment];
      return compute(segment, context, arguments, outputs);
    }
    nnapi_code = error.nnapi_code;
    return context.fail("%s", error.message);
  }

  bool compute(uint32_t segment, Context& context, const Value* const* arguments, Value* outputs) {
    const program::SegmentCounts& counts = program_.segments()[segment];
    program::Values values(context.pool, counts.inputs);
    if (!values.is_there()) return context.fail_memory();
    for (uint32_t i = 0; i < counts.inputs; ++i) values[i] = *arguments[i];
    status = NNAPI_SHIM_FAILED;
    Value made;
    const program::Method& method = program_.methods()[counts.fallback_plus_1 - 1];
    const Value no_state(program::make_sequence(context.pool, program::Tag::kObject, 0));
    if (!program::run_method(program_, method, context, no_state, *this, values.data(), &made)) return false;
    if (made.tag() != program::Tag::kTuple || made.sequence().count != counts.outputs) {
      return context.fail("the CPU's form of a segment gives other results than it has");
    }
    for (uint32_t i = 0; i < counts.outputs; ++i) {
      outputs[i] = made.sequence().values[i];
      if (!outputs[i].is_tensor()) return context.fail("the CPU's form of a segment gives what is no tensor");
    }
    status = NNAPI_SHIM_OK;
    return true;
  }

  const program::Program& program_;
  const Segments& segments_;
  std::atomic<uint32_t>* const failures_;
  const NamedTensors named_;
};

}  // namespace

std::unique_ptr<OpenModel> make_program_model(const std::shared_ptr<const Archive>& archive, Segments segments,
                                              std::shared_ptr<OpenModel> whole, nnapi_shim_error* error) {
  char problem[NNAPI_SHIM_MESSAGE_BYTES] = "";
  const ProgramRecord& record = archive->program();
  std::unique_ptr<const program::Program> parsed =
      program::Program::parse(record.data, record.bytes, problem, sizeof problem);
  if (!parsed) {
    fail(error, NNAPI_SHIM_BAD_MODEL, "%s", problem);
    return nullptr;
  }
  const auto& counts = parsed->segments();
  bool fits = counts.size() == segments.size();
  for (size_t i = 0; fits && i < counts.size(); ++i) {
    fits = counts[i].inputs == segments[i]->argument_count() && counts[i].outputs == segments[i]->output_count();
  }
  if (!fits) {
    fail(error, NNAPI_SHIM_BAD_MODEL, "the program calls other segments than the file has; convert the model again");
    return nullptr;
  }
  return std::make_unique<ProgramModel>(archive, std::move(parsed), std::move(segments), std::move(whole));
}

ProgramModel::ProgramModel(std::shared_ptr<const Archive> archive, std::unique_ptr<const program::Program> program,
                           Segments segments, std::shared_ptr<OpenModel> whole)
    : archive_(std::move(archive)),
      program_(std::move(program)),
      segments_(std::move(segments)),
      whole_(std::move(whole)),
      failures_(new std::atomic<uint32_t>[segments_.size()]()) {}

ProgramModel::~ProgramModel() {
  state_ = Value();  // the state has to end before its context
}

const program::Method& ProgramModel::forward() const {
  const program::Method* method = program_->find_method("forward");
  return method != nullptr ? *method : program_->methods()[0];
}

uint32_t ProgramModel::argument_count() const {
  return whole_ != nullptr ? whole_->argument_count() : static_cast<uint32_t>(forward().arguments.size());
}

std::vector<int64_t> ProgramModel::argument_sizes(uint32_t argument) const {
  return whole_ != nullptr ? whole_->argument_sizes(argument) : std::vector<int64_t>();
}

const std::vector<int32_t>& ProgramModel::input_arguments() const {
  return whole_ != nullptr ? whole_->input_arguments() : no_inputs_;
}

int ProgramModel::load_library(const NnapiLibrary** library, nnapi_shim_error* error) {
  if (segments_.empty()) return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the model does not use NNAPI");
  return segments_[0]->load_library(library, error);
}

void ProgramModel::choice(char* text, size_t bytes) {
  if (!segments_.empty()) segments_[0]->choice(text, bytes);
}

int ProgramModel::describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors,
                           nnapi_shim_error* error) {
  return whole_ != nullptr ? whole_->describe(shapes, tensors, error) : fail_use(error);
}

int ProgramModel::warm_up(const CallShapes& shapes, nnapi_shim_error* error) {
  if (whole_ != nullptr) return whole_->warm_up(shapes, error);
  if (shapes.arguments == nullptr && shapes.count > 0) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the shapes are NULL; give 0 of them");
  }
  for (uint32_t i = 0; i < shapes.count; ++i) {
    if (shapes.arguments[i].rank == 0) continue;
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "a shape was given for argument %u, the model's segments have sizes of their own; give none", i);
  }
  for (size_t i = 0; i < segments_.size(); ++i) {
    const bool has_cpu_form = program_->segments()[i].fallback_plus_1 > 0;
    const int status = warm_up_if_fixed(*segments_[i], has_cpu_form ? nullptr : error);
    if (status == NNAPI_SHIM_OK) continue;
    if (!has_cpu_form) return status;
    ++failures_[i];  // calls compute it on the CPU
  }
  return NNAPI_SHIM_OK;
}

int ProgramModel::run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) {
  return whole_ != nullptr ? whole_->run(shapes, buffers, error) : fail_use(error);
}

int ProgramModel::visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit,
                                   void* user, nnapi_shim_error* error) {
  return whole_ != nullptr ? whole_->visit_operations(shapes, device, visit, user, error) : fail_use(error);
}

int ProgramModel::call(const char* name, const nnapi_shim_named_tensor* arguments, uint32_t count,
                       nnapi_shim_result* result, nnapi_shim_error* error) {
  const program::Method* method = name == nullptr ? &forward() : program_->find_method(name);
  if (method == nullptr) return fail_method(name, error);
  if (!program_->has_state()) {
    std::unique_ptr<Context> context = contexts_.take();
    Value state(program::make_sequence(context->pool, program::Tag::kObject, 0));
    const int status = call_in(*context, state, *method, arguments, count, result, error);
    state = Value();
    contexts_.give_back(std::move(context));
    return status;
  }
  const std::lock_guard<std::mutex> lock(state_mutex_);
  if (!state_context_) {
    state_context_ = std::make_unique<Context>();
    if (!program_->make_state(*state_context_, &state_)) {
      state_ = Value();
      state_context_.reset();
      return fail(error, NNAPI_SHIM_FAILED, "memory is short for the model's state");
    }
  }
  return call_in(*state_context_, state_, *method, arguments, count, result, error);
}

int ProgramModel::call_in(Context& context, const Value& state, const program::Method& method,
                          const nnapi_shim_named_tensor* arguments, uint32_t count, nnapi_shim_result* result,
                          nnapi_shim_error* error) {
  program::Values values(context.pool, static_cast<uint32_t>(method.arguments.size()));
  if (!values.is_there()) return fail(error, NNAPI_SHIM_FAILED, "memory is short for the arguments");
  int status = make_arguments(method, context, arguments, count, values.data(), error);
  if (status != NNAPI_SHIM_OK) return status;
  Runner runner(*program_, segments_, failures_.get(), {arguments, count});
  Value made;
  if (!program::run_method(*program_, method, context, state, runner, values.data(), &made)) {
    const nnapi_shim_error& wrong = runner.wrong_argument;
    if (wrong.status != NNAPI_SHIM_OK) return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%s", wrong.message);
    const auto code = static_cast<nnapi_shim_status>(runner.status != 0 ? runner.status : NNAPI_SHIM_FAILED);
    return fail_with(error, code, runner.nnapi_code, "%s", context.failure);
  }
  return result != nullptr ? result->keep(made, &method.result_type, error) : NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
