// SPDX-License-Identifier: BSD-3-Clause
// An open model as callers of the C interface see it, whatever its file holds: one model (Model), a package of models
// of which one is chosen (Package), segments that run one after the other (Chain), or a program (ProgramModel).
// nnapi_shim.h describes the functions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/shim/attachments.h"
#include "lib/shim/call_contexts.h"
#include "lib/shim/execution.h"
#include "lib/shim/options.h"
#include "lib/shim/tensors.h"

// Several threads may call all functions at once.
struct nnapi_shim_model {
 public:
  using CallShapes = nnapi_shim::CallShapes;

  virtual ~nnapi_shim_model() = default;

  nnapi_shim::Attachments attachments;  // they don't change after the file was opened

  virtual uint32_t argument_count() const = 0;
  // Returns the sizes of an argument, 0 for a flexible one; none for an argument that is not read.
  virtual std::vector<int64_t> argument_sizes(uint32_t argument) const = 0;
  // Returns for each of the model's inputs the number of its argument.
  virtual const std::vector<int32_t>& input_arguments() const = 0;
  virtual uint32_t output_count() const = 0;
  virtual uint32_t feature_level() const = 0;

  virtual int configure(const nnapi_shim::Options& options, nnapi_shim_error* error) = 0;
  // Sets `tensors` to the tensors of a call with these shapes, which do not change.
  virtual int describe(const CallShapes& shapes, std::shared_ptr<const nnapi_shim::CallTensors>* tensors,
                       nnapi_shim_error* error) = 0;
  virtual int warm_up(const CallShapes& shapes, nnapi_shim_error* error) = 0;
  virtual int run(const CallShapes& shapes, const nnapi_shim::RunBuffers& buffers, nnapi_shim_error* error) = 0;
  virtual int visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit,
                               void* user, nnapi_shim_error* error) = 0;
  // Loads NNAPI, and sets `library` to its library.
  virtual int load_library(const nnapi_shim::NnapiLibrary** library, nnapi_shim_error* error) = 0;
  // Runs the trial: finds a device that can be trusted with the samples' shapes, and writes the verdicts.
  virtual int try_devices(nnapi_shim_error* error) = 0;

  // Returns the number of methods that call() runs; without a program there is only forward.
  virtual uint32_t method_count() const { return 1; }
  virtual const char* method_name(uint32_t /*number*/) const { return "forward"; }
  virtual int call(const char* method, const nnapi_shim_named_tensor* arguments, uint32_t count,
                   nnapi_shim_result* result, nnapi_shim_error* error);

  virtual void get_profile(nnapi_shim_profile* profile) = 0;
  virtual void last_failure(nnapi_shim_error* error) = 0;
  // Writes which model of a package was chosen last, and why not those before it; an empty text without a package, and
  // before a choice.
  virtual void choice(char* text, size_t bytes) = 0;

 protected:
  int fail_method(const char* name, nnapi_shim_error* error) const;

  nnapi_shim::CallContexts contexts_;

 private:
  int call_model(nnapi_shim::program::Context& context, const nnapi_shim_named_tensor* arguments, uint32_t count,
                 nnapi_shim_result* result, nnapi_shim_error* error);
};

namespace nnapi_shim {

using OpenModel = nnapi_shim_model;

}  // namespace nnapi_shim
