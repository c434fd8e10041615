// What an operation's code gets to see, and the list of operations.
//
// Each operation has a rule and a kernel. The rule checks values, scales and extents and sets the outputs' shapes. It
// runs when the model is finished, as far as shapes and values are known then (it stops by itself where it reads one
// that is not), and again in every execution, before the kernel. Both read arguments by their names in the table.
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

// Constants in the form in which a kernel wants them, made once per compilation.
class ConstantCache {
 public:
  at::Tensor get(std::size_t operation, const std::string& key, const std::function<at::Tensor()>& make);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::string>, at::Tensor> tensors_;
};

// A tensor or scalar with its extents; without codes it is omitted.
struct Value {
  Shape shape;
  at::Tensor codes;
};

// What an operation asks of the run that it is part of.
class RunServices {
 public:
  virtual ConstantCache& cache() const = 0;
  virtual std::chrono::nanoseconds loop_timeout() const = 0;
  // Runs the model of an operation's argument.
  virtual std::vector<Value> run_inner(const Operation& operation, const char* argument, const Model& model,
                                       const std::vector<Value>& inputs, int64_t iteration) const = 0;

 protected:
  ~RunServices() = default;
};

class OpContext {
 public:
  // When a model is finished: no values but constants.
  OpContext(const Operation& operation, const std::vector<Operand>& operands, std::vector<Shape>& shapes)
      : operation_(operation), operands_(operands), shapes_(shapes) {}
  // In an execution: `values` are the operands', as far as they were computed.
  OpContext(const Operation& operation, const std::vector<Operand>& operands, std::vector<Shape>& shapes,
            std::vector<at::Tensor>& values, const RunServices& run)
      : operation_(operation), operands_(operands), shapes_(shapes), values_(&values), run_(&run) {}

  void check();
  void run();

  OperationCode code() const { return operation_.code; }
  std::string subject() const { return subject_of(operation_); }
  int feature_level() const { return operation_.feature_level; }

  // Arguments, inputs and outputs alike; `n` counts the operands of an argument that stands for several.
  bool has(const char* name) const;  // on the list and not omitted
  std::size_t count(const char* name) const;
  const Operand& operand(const char* name, std::size_t n = 0) const;
  OperandCode type(const char* name, std::size_t n = 0) const { return operand(name, n).type; }
  const Dims& dims(const char* name, std::size_t n = 0) const;
  const Shape& shape(const char* name, std::size_t n = 0) const;  // as far as it is known
  int64_t rank(const char* name) const { return static_cast<int64_t>(dims(name).size()); }
  bool is_constant(const char* name) const { return operand(name).lifetime == Lifetime::kConstant; }

  // Scalars, and tensors of INT32. The forms with a default are for arguments that may be absent.
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

  // Computed extents of an output; the declared ones have to agree.
  void set_output(const Dims& dims, std::size_t n = 0);
  // The same in a rule, where only the kernel will know the extents given as kUnknown; it calls set_output.
  void expect_output(const Dims& dims, std::size_t n = 0);

  // Values, in an execution. `stored` has the operand's own codes (float16 as Half, bool as Byte), `real` the numbers
  // they stand for: Float, or Double for integer and quantised types.
  at::Tensor stored(const char* name, std::size_t n = 0) const;
  at::Tensor real(const char* name, std::size_t n = 0) const;
  void put(at::Tensor codes, std::size_t n = 0);
  void store(const at::Tensor& numbers, std::size_t n = 0);  // rounds and saturates to the output's type
  // For operations that run other models: their inputs, a run of the model at an argument, and an output of this
  // operation. `iteration` counts the runs of a loop.
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

// Null for an operation that is not offered.
const Kernel* find_kernel(OperationCode code);

}  // namespace nnapi_convert::host
