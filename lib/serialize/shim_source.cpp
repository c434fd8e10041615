// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/shim_source.h"

#include <fmt/format.h>

#include "lib/serialize/argument_source.h"
#include "lib/serialize/boundary_source.h"
#include "lib/serialize/source_text.h"
#include "lib/serialize/wrapper_source.h"

namespace nnapi_convert {
namespace {

class ShimSource {
 public:
  explicit ShimSource(const ShimSourceRequest& request)
      : request_(request), class_(qualified_class(request.class_name)), boundary_(request.model, request.interface) {}

  std::string text() {
    line(fmt::format("class {}(Module):", request_.class_name));
    attributes();
    has_fallback() ? forward_or_cpu_method() : forward_method();
    control_methods();
    text_ += bundled_methods(class_, request_.bundled_type);
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_ += content + "\n"; }
  void line_at(int depth, const std::string& content) { line(std::string(static_cast<size_t>(depth), ' ') + content); }

  bool has_fallback() const { return !request_.cpu_class.empty(); }

  void attributes() {
    line("  __parameters__ = []");
    line("  __buffers__ = []");
    line("  training : bool");
    line(fmt::format("  comp : {}", kShimCompilationClass));
    if (has_fallback()) line(fmt::format("  cpu : {}", request_.cpu_class));
    text_ += boundary_.constant_attributes();
    if (!request_.bundled_type.empty()) line(fmt::format("  bundled_inputs : List[{}]", request_.bundled_type));
  }

  static bool is_converted(const InterfaceInput& input) {
    return input.quantize || input.type.dtype == at::kLong || input.type.dtype == at::kBool;
  }

  // Checks the inputs that the module converts. The compilation checks shapes and NNAPI's inputs.
  void check_converted_inputs() {
    for (const InterfaceInput& input : boundary_.inputs()) {
      if (input.is_read && is_converted(input)) text_ += BoundarySource::check_dtype(input);
    }
  }

  // Returns whether inputs and outputs differ from NNAPI's only in layout; then the compilation changes the layout.
  bool is_direct() const {
    for (const nnapi::Boundary& boundary : request_.model.inputs) {
      const InterfaceInput& input = boundary_.inputs()[boundary.argument];
      if (is_converted(input) || request_.model.at(boundary.operand).dims.size() != input.type.rank()) return false;
    }
    for (const InterfaceOutput& output : request_.interface.outputs) {
      const bool is_nnapi = output.source == InterfaceOutput::Source::kNnapi;
      if (!is_nnapi || output.dequantize || output.shape || output.dtype == at::kLong) return false;
    }
    return true;
  }

  void begin_forward() {
    const ForwardArguments& arguments = request_.interface.arguments;
    const std::string parameters = arguments.empty() ? boundary_.parameters() : parameters_of(arguments);
    line(fmt::format("  def forward(self: {}{}) -> {}:", class_, parameters,
                     return_type(request_.interface.return_tree)));
    text_ += bound_checks(arguments);
    text_ += boundary_.check_apart();
  }

  void check_arguments(int depth) {
    line_at(depth, fmt::format("nnapi_checked = (self.comp).check([{}])", boundary_.arguments()));
  }

  // Returns the scales of outputs that are quantised tensors; 0 for others, also for those that NNAPI dequantises.
  std::vector<std::string> scales() const {
    std::vector<std::string> scales;
    for (size_t i = 0; i < request_.model.outputs.size(); ++i) {
      const bool is_quantised = request_.model.at(request_.model.outputs[i].operand).scale != 0;
      scales.push_back(number(is_quantised ? boundary_.output_of_nnapi(i).quantization.scale : 0));
    }
    return scales;
  }

  void run_direct(int depth, const char* method) {
    line_at(depth, fmt::format("nnapi_results = (self.comp).{}([{}], [{}])", method, boundary_.arguments(),
                               fmt::join(scales(), ", ")));
  }

  // Returns the expression of an output. The compilation returns results of NHWC in channels_last order.
  std::string direct_result(const InterfaceOutput& output, const std::string& text) const {
    const bool is_reordered = output.is_contiguous && request_.model.outputs[output.index].nhwc;
    return is_reordered ? fmt::format("torch.contiguous({})", text) : text;
  }

  void direct_outputs(int depth) {
    for (size_t i = 0; i < request_.interface.outputs.size(); ++i) {
      const InterfaceOutput& output = request_.interface.outputs[i];
      line_at(depth, fmt::format("nnapi_result_{} = {}", i,
                                 direct_result(output, fmt::format("nnapi_results[{}]", output.index))));
    }
  }

  void run_nnapi(int depth, const char* method) {
    std::string inputs;
    for (size_t i = 0; i < request_.model.inputs.size(); ++i) {
      line_at(depth, fmt::format("nnapi_input_{} = {}", i, boundary_.nnapi_input(request_.model.inputs[i])));
      inputs += fmt::format("{}nnapi_input_{}", i ? ", " : "", i);
    }
    line_at(depth, fmt::format("nnapi_results = (self.comp).{}([{}], [{}], [{}])", method, boundary_.arguments(),
                               inputs, fmt::join(scales(), ", ")));
  }

  void outputs(int depth) {
    for (size_t i = 0; i < request_.model.outputs.size(); ++i) {
      line_at(depth, fmt::format("nnapi_output_{} = nnapi_results[{}]", i, i));
    }
    for (size_t i = 0; i < request_.interface.outputs.size(); ++i) {
      line_at(depth, fmt::format("nnapi_result_{} = {}", i, boundary_.output_value(i)));
    }
  }

  std::string result() const { return BoundarySource::return_value(request_.interface.return_tree); }

  void forward_method() {
    begin_forward();
    const bool is_one = request_.interface.outputs.size() == 1 && request_.model.outputs.size() == 1;
    if (is_direct() && is_one) {
      const std::string call =
          fmt::format("(self.comp).run_direct_to_one([{}], {})", boundary_.arguments(), scales()[0]);
      line("    nnapi_result_0 = " + direct_result(request_.interface.outputs[0], call));
    } else if (is_direct()) {
      run_direct(4, "run_direct");
      direct_outputs(4);
    } else {
      check_arguments(4);
      check_converted_inputs();
      run_nnapi(4, "run");
      outputs(4);
    }
    line("    return " + result());
  }

  void forward_or_cpu_method() {
    const ForwardArguments& arguments = request_.interface.arguments;
    const std::string on_cpu = fmt::format("nnapi_value = (self.cpu).forward({})",
                                           arguments.empty() ? boundary_.arguments() : names_of(arguments));
    begin_forward();
    if (!is_direct()) {
      check_arguments(4);
      check_converted_inputs();
    }
    line("    if (self.comp).uses_cpu():");
    if (is_direct()) check_arguments(6);
    line("      nnapi_begin = (self.comp).clock()");
    line("      " + on_cpu);
    line("      nnapi_taken = (self.comp).cpu_ran(nnapi_begin)");
    line("    else:");
    is_direct() ? run_direct(6, "try_run_direct") : run_nnapi(6, "try_run");
    line("      if torch.eq(torch.len(nnapi_results), 0):");
    line("        " + on_cpu);
    line("      else:");
    is_direct() ? direct_outputs(8) : outputs(8);
    line("        nnapi_value = " + result());
    line("    return nnapi_value");
  }

  void control_methods() {
    line(fmt::format("  def nnapi_configure(self: {}, options: Dict[str, str]) -> None:", class_));
    line("    nnapi_done = (self.comp).configure(options)");
    line("    return None");
    line(fmt::format("  def nnapi_warm_up(self: {}{}) -> None:", class_, boundary_.parameters()));
    line(fmt::format("    nnapi_done = (self.comp).warm_up([{}])", boundary_.arguments()));
    line("    return None");
    line(fmt::format("  def nnapi_state(self: {}) -> str:", class_));
    line("    return (self.comp).state()");
    line(fmt::format("  def nnapi_profile(self: {}) -> Dict[str, int]:", class_));
    line("    return (self.comp).profile()");
  }

  const ShimSourceRequest& request_;
  std::string class_;
  BoundarySource boundary_;
  std::string text_;
};

}  // namespace

std::string shim_source(const ShimSourceRequest& request) {
  return ShimSource(request).text();
}

}  // namespace nnapi_convert
