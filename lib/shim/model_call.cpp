// SPDX-License-Identifier: BSD-3-Clause
// Runs calls by name for files without a program.
#include "lib/shim/open_model.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/program/values.h"
#include "lib/shim/failure.h"
#include "lib/shim/named_arguments.h"
#include "lib/shim/named_results.h"
#include "lib/shim/segment_call.h"

using nnapi_shim::fail;
using nnapi_shim::program::Context;
using nnapi_shim::program::Value;
using nnapi_shim::program::Values;

int nnapi_shim_model::fail_method(const char* name, nnapi_shim_error* error) const {
  char names[300] = "";
  for (uint32_t i = 0; i < method_count(); ++i) {
    const size_t length = std::strlen(names);
    std::snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "", method_name(i));
  }
  return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "method \"%.100s\" was asked for, the model has %s", name, names);
}

// Runs a call by name; the arguments' names are "0", "1" and so on.
int nnapi_shim_model::call(const char* method, const nnapi_shim_named_tensor* arguments, uint32_t count,
                           nnapi_shim_result* result, nnapi_shim_error* error) {
  if (method != nullptr && std::strcmp(method, method_name(0)) != 0) return fail_method(method, error);
  std::unique_ptr<Context> context = contexts_.take();
  const int status = call_model(*context, arguments, count, result, error);
  contexts_.give_back(std::move(context));
  return status;
}

int nnapi_shim_model::call_model(Context& context, const nnapi_shim_named_tensor* arguments, uint32_t count,
                                 nnapi_shim_result* result, nnapi_shim_error* error) {
  const uint32_t needed = argument_count();
  Values values(context.pool, needed);
  auto** inputs = static_cast<const Value**>(context.pool.take((size_t{needed} + 1) * sizeof(Value*)));
  int status = NNAPI_SHIM_OK;
  nnapi_shim::program::Sequence* outputs =
      nnapi_shim::program::make_sequence(context.pool, nnapi_shim::program::Tag::kTuple, output_count());
  if (!values.is_there() || inputs == nullptr || outputs == nullptr) {
    status = fail(error, NNAPI_SHIM_FAILED, "memory is short for a call");
  }
  const Value made(outputs);
  for (uint32_t i = 0; i < count && status == NNAPI_SHIM_OK; ++i) {
    const char* at = arguments[i].path;
    nnapi_shim::PathStep step{};
    uint32_t index = 0;
    const bool is_number = at != nullptr && nnapi_shim::read_step(&at, true, &step) && *at == '\0' &&
                           step.to_index(&index) && index < needed;
    if (!is_number) {
      status = fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                    "argument %.150s is unknown: the file holds no names, and its %u arguments are 0, 1 and so on",
                    arguments[i].path != nullptr ? arguments[i].path : "NULL", needed);
    } else if (!values[index].is_none()) {
      status = fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u is given twice", index);
    } else {
      status = nnapi_shim::borrow_tensor(context, arguments[i], &values[index], error);
    }
  }
  // Arguments that NNAPI does not read need no tensor.
  const std::vector<int32_t>& read = input_arguments();
  for (uint32_t i = 0; i < needed && status == NNAPI_SHIM_OK; ++i) {
    inputs[i] = &values[i];
    if (!values[i].is_none()) continue;
    for (const int32_t argument : read) {
      if (argument == static_cast<int32_t>(i)) {
        status = fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u is missing", i);
      }
    }
    if (status != NNAPI_SHIM_OK) break;
    nnapi_shim::program::Tensor* nothing =
        nnapi_shim::program::make_tensor(context.pool, nnapi_shim::program::ScalarType::kFloat32, 0, nullptr);
    if (nothing == nullptr) status = fail(error, NNAPI_SHIM_FAILED, "memory is short for a call");
    values[i] = Value(nothing);
  }
  if (status == NNAPI_SHIM_OK) {
    status = nnapi_shim::call_segment(*this, context, inputs, outputs->values, true, error);
    if (status == NNAPI_SHIM_BAD_ARGUMENT) {
      nnapi_shim::blame_argument(*this, inputs, true, {arguments, count}, error);
    }
  }
  if (status == NNAPI_SHIM_OK && result != nullptr) {
    status = result->keep(outputs->count == 1 ? outputs->values[0] : made, nullptr, error);
  }
  context.pool.give_back(static_cast<void*>(inputs));
  return status;
}
