// What the emitted classes of both runtimes say between forward's tensors and NNAPI's, as TorchScript text: checks,
// layouts, dtypes, results. Local names begin with nnapi_, out of the way of forward's argument names.
#pragma once

#include <string>

#include "lib/nnapi/model.h"
#include "lib/serialize/module_interface.h"

namespace nnapi_convert {

class BoundarySource {
 public:
  // Both have to outlive this object.
  BoundarySource(const nnapi::Model& model, const ModuleInterface& interface) : model_(model), interface_(interface) {}

  const std::vector<InterfaceInput>& inputs() const { return interface_.inputs; }

  std::string parameters() const;  // ", x: Tensor, y: Tensor"
  std::string arguments() const;   // "x, y, "

  // An input's size, or an expression of them.
  std::string dim_text(const Dim& dim) const;
  // A list of sizes, computed where they depend on the inputs.
  std::string sizes_text(const Dims& dims) const;

  // Statements, indented by four spaces: if CONDITION: raise "input NAME: WHAT {found} found, NEEDED needed".
  static std::string raise_if(const std::string& condition, const std::string& name, const std::string& what,
                              const std::string& found, const std::string& needed);
  // The dtype, scale and zero point that the caller's tensor needs.
  static std::string check_dtype(const InterfaceInput& input);
  // The sizes that it needs, as far as they are fixed.
  static std::string check_shape(const InterfaceInput& input);
  // Declarations of the attributes that hold constant outputs.
  std::string constant_attributes() const;

  // NNAPI's input from the caller's argument.
  std::string nnapi_input(const nnapi::Boundary& boundary) const;
  // The first of forward's outputs that NNAPI's output number `index` is.
  const InterfaceOutput& output_of_nnapi(size_t index) const;
  bool is_shared(size_t number) const;
  // Output `number` of forward; NNAPI's outputs are in nnapi_output_<n>.
  std::string output_value(size_t number) const;
  // The tree of forward's outputs, which are in nnapi_result_<n>.
  static std::string return_value(const ReturnTree& tree);

 private:
  std::string nnapi_output(const InterfaceOutput& output) const;
  std::string input_as_output(const InterfaceOutput& output) const;

  const nnapi::Model& model_;
  const ModuleInterface& interface_;
};

}  // namespace nnapi_convert
