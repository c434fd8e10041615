// SPDX-License-Identifier: BSD-3-Clause
#include "tests/program/program_run.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace nnapi_shim::program_testing {

using namespace program;

std::string text_of(const Value& value) {
  char number[64];
  std::string text;
  switch (value.tag()) {
    case Tag::kNone:
      return "None";
    case Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case Tag::kInt:
      return std::to_string(value.as_int());
    case Tag::kFloat:
      std::snprintf(number, sizeof number, "%g", value.as_float());
      return number;
    case Tag::kDevice:
      return "cpu";
    case Tag::kString:
      return value.string().text();
    case Tag::kTensor: {
      const Tensor& tensor = value.tensor();
      Pool pool;
      Value copy(make_tensor(pool, ScalarType::kFloat64, tensor.rank, tensor.sizes));
      copy_elements(tensor, copy.tensor());
      for (int64_t i = 0; i < tensor.numel(); ++i) {
        std::snprintf(number, sizeof number, "%s%g", i > 0 ? " " : "", copy.tensor().data<double>()[i]);
        text += number;
      }
      return "<" + text + ">";
    }
    default:
      for (uint32_t i = 0; i < value.sequence().count; ++i) {
        text += (i > 0 ? ", " : "") + text_of(value.sequence().values[i]);
      }
      return (value.tag() == Tag::kList    ? "["
              : value.tag() == Tag::kTuple ? "("
                                           : "{") +
             text +
             (value.tag() == Tag::kList    ? "]"
              : value.tag() == Tag::kTuple ? ")"
                                           : "}");
  }
}

bool AddingSegments::run_segment(uint32_t segment, Context& context, const Value* const* inputs, Value* outputs) {
  ran.push_back(segment);
  if (!inputs[0]->is_tensor()) return context.fail("a tensor is needed");
  const Tensor& from = inputs[0]->tensor();
  Tensor* made = make_tensor(context.pool, ScalarType::kFloat32, from.rank, from.sizes);
  if (made == nullptr) return context.fail_memory();
  outputs[0] = Value(made);
  copy_elements(from, *made);
  for (int64_t i = 0; i < made->numel(); ++i) made->data<float>()[i] += 1;
  return true;
}

bool AddingSegments::run_raw_segment(uint32_t segment, Context& context, const Value* const* arguments_and_inputs,
                                     uint32_t arguments, uint32_t inputs, Value* outputs) {
  if (inputs != 1) return context.fail("one input is needed");
  return run_segment(segment, context, arguments_and_inputs + arguments, outputs);
}

OpenProgram::OpenProgram(std::vector<uint8_t> record) : record_(std::move(record)) {
  char error[512] = "";
  program_ = Program::parse(record_.data(), record_.size(), error, sizeof error);
  error_ = error;
  if (program_) program_->make_state(context, &state_);
}

OpenProgram::~OpenProgram() {
  state_ = Value();
}

bool OpenProgram::run(const std::string& name, std::vector<Value> arguments, Value* result) {
  const Method* method = program_->find_method(name.c_str());
  arguments.resize(method->arguments.size());
  const bool is_good = run_method(*program_, *method, context, state_, segments, arguments.data(), result);
  error_ = context.failure;
  return is_good;
}

std::string OpenProgram::text(std::vector<Value> arguments, const std::string& method) {
  Value result;
  if (program_ == nullptr) return "refused";
  return run(method, std::move(arguments), &result) ? text_of(result) : "error";
}

Value OpenProgram::floats(const std::vector<int64_t>& sizes, const std::vector<float>& values) {
  Value made(make_tensor(context.pool, ScalarType::kFloat32, static_cast<uint32_t>(sizes.size()), sizes.data()));
  std::memcpy(made.tensor().bytes(), values.data(), values.size() * sizeof(float));
  return made;
}

}  // namespace nnapi_shim::program_testing
