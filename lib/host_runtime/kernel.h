// SPDX-License-Identifier: BSD-3-Clause
// Gives operations access to their arguments, and lists all operations.
//
// Each operation has a rule and a kernel. The rule checks values, scales and extents and sets the outputs' shapes. It
// runs when the model is finished, and stops where it reads a shape or value that is not known yet. It runs again in
// every execution, before the kernel. Rule and kernel read arguments by their names in the operations table.
#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/host_runtime/failure.h"
#include "lib/host_runtime/operand.h"
#include "lib/host_runtime/signature.h"
#include "lib/host_runtime/storage.h"

namespace nnapi_convert::host {

// Keeps constants in the form that a kernel needs; makes each once per compilation.
class ConstantCache {
 public:
  at::Tensor get(std::size_t operation, const std::string& key, const std::function<at::Tensor()>& make);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::string>, at::Tensor> tensors_;
};

// A tensor or scalar with its extents. An undefined `codes` means that it is omitted.
struct Value {
  Shape shape;
  at::Tensor codes;
};

// The services that a run offers to its operations.
class RunServices {
 public:
  virtual ConstantCache& cache() const = 0;
  virtual std::chrono::nanoseconds loop_timeout() const = 0;
  // Runs the model given as an operation's argument.
  virtual std::vector<Value> run_inner(const Operation& operation, const char* argument, const Model& model,
                                       const std::vector<Value>& inputs, int64_t iteration) const = 0;

 protected:
  ~RunServices() = default;
};

class OpContext {
 public:
  // For rules when a model is finished: only the values of constants are known.
  OpContext(const Operation& operation, const std::vector<Operand>& operands, std::vector<Shape>& shapes)
      : operation_(operation), operands_(operands), shapes_(shapes) {}
  // For an execution: `values` has the values of the operands computed so far.
  OpContext(const Operation& operation, const std::vector<Operand>& operands, std::vector<Shape>& shapes,
            std::vector<at::Tensor>& values, const RunServices& run)
      : operation_(operation), operands_(operands), shapes_(shapes), values_(&values), run_(&run) {}

  void check();
  void run();

  OperationCode code() const { return operation_.code; }
  std::string subject() const { return subject_of(operation_); }
  int feature_level() const { return operation_.feature_level; }

  // `name` is the name of an input or output. `n` selects one operand of an argument that stands for several operands.
  bool has(const char* name) const;  // the operation has the argument, and it is not omitted
  std::size_t count(const char* name) const;
  const Operand& operand(const char* name, std::size_t n = 0) const;
  OperandCode type(const char* name, std::size_t n = 0) const { return operand(name, n).type; }
  const Dims& dims(const char* name, std::size_t n = 0) const;
  const Shape& shape(const char* name, std::size_t n = 0) const;  // may be unknown in part
  int64_t rank(const char* name) const { return static_cast<int64_t>(dims(name).size()); }
  bool is_constant(const char* name) const { return operand(name).lifetime == Lifetime::kConstant; }

  // Read scalars and tensors of INT32. The forms with `absent` are for arguments that may be absent.
  int64_t integer(const char* name) const;
  int64_t integer(const char* name, int64_t absent) const { return has(name) ? integer(name) : absent; }
  bool flag(const char* name) const;
  bool flag(const char* name, bool absent) const { return has(name) ? flag(name) : absent; }
  double number(const char* name) const;
  Dims integers(const char* name) const;

  template <typename... Args>
  [[noreturn]] void refuse(const char* argument, fmt::format_string<Args...> format, Args&&... args) const {
    bad_data("{}, argument {}: {}", subject_of(operation_), argument, fmt::format(format, std::forward<Args>(args)...));
  }

  // Sets the computed extents of an output; the declared extents have to agree.
  void set_output(const Dims& dims, std::size_t n = 0);
  // Sets the extents of an output in a rule that does not know all of them: the kernel then calls set_output with the
  // extents that are kUnknown here.
  void expect_output(const Dims& dims, std::size_t n = 0);

  // Read and write values in an execution. `stored` returns the operand's own codes (float16 as Half, bool as Byte).
  // `real` returns the numbers that the codes stand for: Float, or Double for integer and quantised types.
  at::Tensor stored(const char* name, std::size_t n = 0) const;
  at::Tensor real(const char* name, std::size_t n = 0) const;
  void put(at::Tensor codes, std::size_t n = 0);
  void store(const at::Tensor& numbers, std::size_t n = 0);  // rounds and saturates to the output's type
  // For operations that run other models: `values` returns the inputs for such a model, `run_model` runs the model
  // given as an argument, `put_value` sets an output of the operation. `iteration` counts the runs of a loop.
  std::vector<Value> values(const char* name) const;
  std::vector<Value> run_model(const char* name, const std::vector<Value>& inputs, int64_t iteration = 0);
  void put_value(const Value& value, std::size_t n);
  std::chrono::nanoseconds loop_timeout() const;
  // Calls `make` once per compilation if the argument is constant, else each time.
  at::Tensor cached(const char* argument, const std::string& key, const std::function<at::Tensor()>& make) const;

 private:
  uint32_t find(const char* name, std::size_t n) const;
  bool find_if_present(const char* name, std::size_t n, uint32_t* index) const;
  bool is_omitted(uint32_t index) const;
  const void* scalar(const char* name) const;
  at::Tensor value(uint32_t index) const;
  void check_omitted() const;
  const char* output_name(std::size_t n) const;

  const Operation& operation_;
  const std::vector<Operand>& operands_;
  std::vector<Shape>& shapes_;
  std::vector<at::Tensor>* values_ = nullptr;
  const RunServices* run_ = nullptr;
};

struct Kernel {
  OperationCode code;
  void (*rule)(OpContext&);
  void (*run)(OpContext&);
};

// Returns null for an operation that the runtime does not have.
const Kernel* find_kernel(OperationCode code);

}  // namespace nnapi_convert::host
