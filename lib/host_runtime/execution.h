// Compilations and executions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/host_runtime/model.h"
#include "lib/host_runtime/neural_networks.h"
#include "lib/host_runtime/program.h"

namespace nnapi_convert::host {

class Compilation {
 public:
  explicit Compilation(std::shared_ptr<const Model> model);

  void set_preference(int32_t preference);
  void finish();

  bool finished() const { return finished_; }
  const Model& model() const { return *model_; }
  const Program& program() const { return *program_; }  // when finished

 private:
  std::shared_ptr<const Model> model_;
  bool finished_ = false;
  std::unique_ptr<const Program> program_;
};

class Execution {
 public:
  explicit Execution(std::shared_ptr<const Compilation> compilation);

  void set_input(int32_t index, const ANeuralNetworksOperandType* type, const void* buffer, std::size_t length);
  void set_output(int32_t index, const ANeuralNetworksOperandType* type, void* buffer, std::size_t length);
  void set_loop_timeout(uint64_t nanoseconds);
  void compute();

  // After compute(), also where it failed because an output's buffer was too small.
  const Dims& output_dims(int32_t index) const;
  bool output_fits(int32_t index) const;

 private:
  struct Argument {
    bool set = false;
    Shape shape;
    void* buffer = nullptr;  // null: omitted
    std::size_t length = 0;
    bool fits = true;
  };

  Argument& argument(std::vector<Argument>& arguments, int32_t index, const char* what);
  Shape merged_shape(const Operand& operand, const ANeuralNetworksOperandType* type, const std::string& subject) const;
  void require_all_set() const;
  std::vector<Value> input_values() const;
  void write_outputs(const std::vector<Value>& values);

  std::shared_ptr<const Compilation> compilation_;
  bool started_ = false;
  bool computed_ = false;
  std::vector<Argument> inputs_, outputs_;
  RunSettings settings_;
};

}  // namespace nnapi_convert::host
