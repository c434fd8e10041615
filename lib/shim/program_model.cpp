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

class Runner final : public program::SegmentRunner {
 public:
  explicit Runner(const Segments& segments) : segments_(segments) {}

  bool run_segment(uint32_t segment, Context& context, const Value* const* inputs, Value* outputs) override {
    nnapi_shim_error error{};
    status = call_segment(*segments_[segment], context, inputs, outputs, false, &error);
    return report(context, error);
  }

  bool run_raw_segment(uint32_t segment, Context& context, const Value* const* arguments_and_inputs, uint32_t arguments,
                       uint32_t inputs, Value* outputs) override {
    nnapi_shim_error error{};
    status = call_raw_segment(*segments_[segment], context, arguments_and_inputs, arguments_and_inputs + arguments,
                              inputs, outputs, &error);
    return report(context, error);
  }

  int status = NNAPI_SHIM_OK;
  int nnapi_code = 0;

 private:
  bool report(Context& context, const nnapi_shim_error& error) {
    if (status == NNAPI_SHIM_OK) return true;
    nnapi_code = error.nnapi_code;
    return context.fail("%s", error.message);
  }

  const Segments& segments_;
};

}  // namespace

std::unique_ptr<OpenModel> make_program_model(const std::shared_ptr<const Archive>& archive, Segments segments,
                                              nnapi_shim_error* error) {
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
  return std::make_unique<ProgramModel>(archive, std::move(parsed), std::move(segments));
}

ProgramModel::ProgramModel(std::shared_ptr<const Archive> archive, std::unique_ptr<const program::Program> program,
                           Segments segments)
    : archive_(std::move(archive)), program_(std::move(program)), segments_(std::move(segments)) {}

ProgramModel::~ProgramModel() {
  state_ = Value();  // before its context
}

const program::Method& ProgramModel::forward() const {
  const program::Method* method = program_->find_method("forward");
  return method != nullptr ? *method : program_->methods()[0];
}

int ProgramModel::load_library(const NnapiLibrary** library, nnapi_shim_error* error) {
  if (segments_.empty()) return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "the model does not use NNAPI");
  return segments_[0]->load_library(library, error);
}

void ProgramModel::choice(char* text, size_t bytes) {
  if (!segments_.empty()) segments_[0]->choice(text, bytes);
}

int ProgramModel::describe(const CallShapes& /*shapes*/, std::shared_ptr<const CallTensors>* /*tensors*/,
                           nnapi_shim_error* error) {
  return fail_use(error);
}

int ProgramModel::warm_up(const CallShapes& /*shapes*/, nnapi_shim_error* error) {
  return fail_use(error);
}

int ProgramModel::run(const CallShapes& /*shapes*/, const RunBuffers& /*buffers*/, nnapi_shim_error* error) {
  return fail_use(error);
}

int ProgramModel::visit_operations(const CallShapes& /*shapes*/, const char* /*device*/,
                                   nnapi_shim_operation_visitor /*visit*/, void* /*user*/, nnapi_shim_error* error) {
  return fail_use(error);
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
  Runner runner(segments_);
  Value made;
  if (!program::run_method(*program_, method, context, state, runner, values.data(), &made)) {
    const auto code = static_cast<nnapi_shim_status>(runner.status != 0 ? runner.status : NNAPI_SHIM_FAILED);
    return fail_with(error, code, runner.nnapi_code, "%s", context.failure);
  }
  return result != nullptr ? result->keep(made, &method.result_type, error) : NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
