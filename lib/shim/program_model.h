// SPDX-License-Identifier: BSD-3-Clause
// An open file with a program: the steps that the shim runs itself, between calls of NNAPI's models, or, if NNAPI runs
// the model whole, around it.
//
// Calls of a program without state run at once, each with a context of its own; a program with state has one context,
// and its calls wait for each other.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "lib/program/interpreter.h"
#include "lib/shim/archive.h"
#include "lib/shim/segments.h"

namespace nnapi_shim {

// Makes the model. `whole` is the model for callers that use NNAPI's tensors: one of the segments, or a chain of them;
// null if the program has steps between them. Returns null, and NNAPI_SHIM_BAD_MODEL in `error`, for a damaged program,
// or one whose segments are not the file's.
std::unique_ptr<OpenModel> make_program_model(const std::shared_ptr<const Archive>& archive, Segments segments,
                                              std::shared_ptr<OpenModel> whole, nnapi_shim_error* error);

class ProgramModel final : public OpenModel {
 public:
  ProgramModel(std::shared_ptr<const Archive> archive, std::unique_ptr<const program::Program> program,
               Segments segments, std::shared_ptr<OpenModel> whole);
  ~ProgramModel() override;

  uint32_t argument_count() const override;
  std::vector<int64_t> argument_sizes(uint32_t argument) const override;
  const std::vector<int32_t>& input_arguments() const override;
  uint32_t output_count() const override { return whole_ != nullptr ? whole_->output_count() : 0; }
  uint32_t feature_level() const override { return highest_level(segments_); }
  int configure(const Options& options, nnapi_shim_error* error) override {
    return configure_all(segments_, options, error);
  }
  int load_library(const NnapiLibrary** library, nnapi_shim_error* error) override;
  int try_devices(nnapi_shim_error* error) override { return try_devices_of_all(segments_, error); }
  void get_profile(nnapi_shim_profile* profile) override { sum_profiles(segments_, profile); }
  void last_failure(nnapi_shim_error* error) override { first_failure(segments_, error); }
  void choice(char* text, size_t bytes) override;

  // For callers that use NNAPI's tensors. Without `whole` these return NNAPI_SHIM_BAD_ARGUMENT, with the advice to use
  // nnapi_shim_call.
  int describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) override;
  int run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) override;
  int visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit, void* user,
                       nnapi_shim_error* error) override;

  // Without `whole`, compiles the segments whose sizes are fixed; `shapes` then has to be empty, or to have shapes
  // without axes.
  int warm_up(const CallShapes& shapes, nnapi_shim_error* error) override;

  uint32_t method_count() const override { return program_->named_methods(); }
  const char* method_name(uint32_t number) const override { return program_->methods()[number].name; }
  int call(const char* method, const nnapi_shim_named_tensor* arguments, uint32_t count, nnapi_shim_result* result,
           nnapi_shim_error* error) override;

 private:
  const program::Method& forward() const;
  int call_in(program::Context& context, const program::Value& state, const program::Method& method,
              const nnapi_shim_named_tensor* arguments, uint32_t count, nnapi_shim_result* result,
              nnapi_shim_error* error);

  const std::shared_ptr<const Archive> archive_;
  const std::unique_ptr<const program::Program> program_;
  const Segments segments_;
  const std::shared_ptr<OpenModel> whole_;
  const std::vector<int32_t> no_inputs_;
  std::unique_ptr<std::atomic<uint32_t>[]> failures_;  // by segment: the number of NNAPI's failures in a row

  std::mutex state_mutex_;  // guards `state_context_` and `state_`
  std::unique_ptr<program::Context> state_context_;
  program::Value state_;
};

}  // namespace nnapi_shim
