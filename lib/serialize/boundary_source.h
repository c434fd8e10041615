// SPDX-License-Identifier: BSD-3-Clause
// Writes the TorchScript text that the emitted classes of both runtimes have between forward's tensors and NNAPI's:
// checks, layouts, dtypes and results. Local names begin with nnapi_, so they differ from forward's argument names.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/model.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

class BoundarySource {
 public:
  // `model` and `interface` have to outlive this object.
  BoundarySource(const nnapi::Model& model, const ModuleInterface& interface) : model_(model), interface_(interface) {}

  const std::vector<InterfaceInput>& inputs() const { return interface_.inputs; }

  std::string parameters() const;  // ", x: Tensor, y: Tensor"
  std::string arguments() const;   // "x, y, "

  // Returns a number, or an expression over sizes of inputs.
  std::string dim_text(const Dim& dim) const;
  // Returns a list of sizes; sizes that depend on the inputs are expressions.
  std::string sizes_text(const Dims& dims) const;

  // Returns statements indented by four spaces: if CONDITION: raise "input NAME: WHAT {found} found, NEEDED needed".
  static std::string raise_if(const std::string& condition, const std::string& name, const std::string& what,
                              const std::string& found, const std::string& needed);
  // Returns such statements for sizes of several inputs: raise "WHAT {found} found, NEEDED needed".
  static std::string raise_if(const std::string& condition, const std::string& what, const std::string& found,
                              const std::string& needed);
  // Returns checks of the dtype, scale and zero point of the caller's tensor, which `variable` holds.
  static std::string check_dtype(const InterfaceInput& input, const std::string& variable);
  static std::string check_dtype(const InterfaceInput& input) { return check_dtype(input, input.name); }
  // Returns checks of the sizes of the caller's tensor number `number` that are fixed, or follow from other ones.
  // `variables` hold the caller's tensors.
  static std::string check_shape(const ModuleInterface& interface, const std::vector<std::string>& variables,
                                 size_t number);
  std::string check_shape(size_t number) const { return check_shape(interface_, names(), number); }
  // Returns checks of the interface's conditions on sizes.
  static std::string check_conditions(const ModuleInterface& interface, const std::vector<std::string>& variables);
  std::string check_conditions() const { return check_conditions(interface_, names()); }
  // Returns checks that no input that the original changes in place is passed a second time. `variables` hold the
  // caller's tensors.
  static std::string check_apart(const ModuleInterface& interface, const std::vector<std::string>& variables);
  std::string check_apart() const;
  // Returns declarations of the attributes that hold constant outputs.
  std::string constant_attributes() const;

  // Returns the expression that makes NNAPI's input from the caller's argument.
  std::string nnapi_input(const nnapi::Boundary& boundary) const;
  // Returns the first of forward's outputs that comes from NNAPI's output number `index`.
  const InterfaceOutput& output_of_nnapi(size_t index) const;
  bool is_shared(size_t number) const;
  // Returns the expression of output `number` of forward; the variables nnapi_output_<n> hold NNAPI's outputs.
  std::string output_value(size_t number) const;
  // Returns the expression of the tree of forward's outputs; the variables nnapi_result_<n> hold the outputs.
  static std::string return_value(const ReturnTree& tree);

 private:
  std::vector<std::string> names() const;  // of the inputs
  std::string nnapi_output(const InterfaceOutput& output) const;
  std::string input_as_output(const InterfaceOutput& output) const;

  const nnapi::Model& model_;
  const ModuleInterface& interface_;
};

}  // namespace nnapi_convert
