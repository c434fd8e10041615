// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/wrapper_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lib/serialize/argument_source.h"
#include "lib/serialize/boundary_source.h"
#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

constexpr const char* kCompilation = "__torch__.torch.classes._nnapi.Compilation";

class WrapperSource {
 public:
  explicit WrapperSource(const WrapperRequest& request)
      : request_(request), class_(qualified_class(request.class_name)), boundary_(request.model, request.interface) {}

  std::string text() {
    line(fmt::format("class {}(Module):", request_.class_name));
    attributes();
    check_method();
    prepare_method();
    forward_method();
    text_ += bundled_methods(class_, request_.bundled_type);
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_ += content + "\n"; }

  const std::vector<InterfaceInput>& inputs() const { return boundary_.inputs(); }
  bool is_flexible() const { return !request_.serialized.patches.empty(); }
  bool has_float16() const {
    const auto& buffers = request_.serialized.buffers;
    return std::any_of(buffers.begin(), buffers.end(),
                       [](const nnapi::Constant& each) { return each.type() == nnapi::DataType::kFloat16; });
  }

  void attributes() {
    line("  __parameters__ = []");
    line("  __buffers__ = []");
    line("  training : bool");
    line("  ser_model : Tensor");
    line("  weights : List[Tensor]");
    if (request_.serialized.has_int8()) line("  int8_scales : List[Tensor]");
    if (is_flexible()) {
      line("  patch_words : Tensor");
      for (int i = 0; i < kKeptSizes; ++i) line(fmt::format("  {} : List[int]", sizes_of(i)));
      for (int i = 1; i < kKeptSizes; ++i) line(fmt::format("  {} : Optional[{}]", compilation(i), kCompilation));
    }
    text_ += boundary_.constant_attributes();
    if (!request_.bundled_type.empty()) line(fmt::format("  bundled_inputs : List[{}]", request_.bundled_type));
    line(fmt::format("  comp : Optional[{}]", kCompilation));
  }

  // Writes check_inputs(). The module checks its inputs itself: PyTorch's loader silently computes wrong numbers from
  // another scale.
  void check_method() {
    line(fmt::format("  def check_inputs(self: {}{}) -> None:", class_, boundary_.parameters()));
    for (size_t i = 0; i < inputs().size(); ++i) {
      if (!inputs()[i].is_read) continue;
      text_ += BoundarySource::check_dtype(inputs()[i]);
      text_ += boundary_.check_shape(i);
      check_open_sizes(i);
    }
    text_ += boundary_.check_conditions() + boundary_.check_apart();
    line("    return None");
  }

  // Checks that open sizes are at least 1: NNAPI has no tensors without elements.
  void check_open_sizes(size_t number) {
    const InterfaceInput& input = inputs()[number];
    for (size_t axis = 0; axis < input.type.rank(); ++axis) {
      if (input.type.dims[axis].is_fixed()) continue;
      const std::string size = fmt::format("torch.size({}, {})", input.name, axis);
      text_ += BoundarySource::raise_if(fmt::format("torch.lt({}, 1)", size), input.name, fmt::format("size {}:", axis),
                                        size, "1 or more");
    }
  }

  // Writes the words that depend on input sizes. Computes equal expressions once.
  void patch_words() {
    std::map<std::string, std::string> variables;
    std::string values;
    for (const WordPatch& patch : request_.serialized.patches) {
      const std::string expression = boundary_.dim_text(patch.value);
      const auto [variable, is_new] = variables.emplace(expression, fmt::format("nnapi_size_{}", variables.size()));
      if (is_new) line(fmt::format("    {} = {}", variable->second, expression));
      values += (values.empty() ? "" : ", ") + variable->second;
    }
    line(fmt::format("    nnapi_values = torch.tensor([{}], dtype=3, device=None, requires_grad=False)", values));
    line("    nnapi_patched = torch.index_copy_(self.ser_model, 0, self.patch_words, nnapi_values)");
  }

  // Returns an attribute's name. The last kKeptSizes compilations stay, for calls with their sizes. The first call with
  // other sizes warns.
  static std::string compilation(int number) { return number == 0 ? "comp" : fmt::format("comp_{}", number); }
  static std::string sizes_of(int number) { return number == 0 ? "sizes" : fmt::format("sizes_{}", number); }

  // Returns the list of all sizes of the call's inputs; check_inputs() has checked their ranks.
  std::string call_sizes() const {
    std::vector<std::string> sizes;
    for (const InterfaceInput& input : inputs()) {
      for (size_t axis = 0; axis < input.type.rank(); ++axis) {
        sizes.push_back(fmt::format("torch.size({}, {})", input.name, axis));
      }
    }
    return fmt::format("[{}]", fmt::join(sizes, ", "));
  }

  void keep_compilations() {
    line(fmt::format("    if torch.gt(torch.len(self.{}), 0):", sizes_of(0)));
    line(fmt::format("      if torch.eq(torch.len(self.{}), 0):", sizes_of(1)));
    line(
        fmt::format("        torch.warn(torch.format(\"nnapi-convert: inputs of other sizes, {{}} after {{}}: NNAPI "
                    "compiles the model once more; compilations of the last {} sizes are kept\", {}, self.{}), 2)",
                    kKeptSizes, call_sizes(), sizes_of(0)));
    line("      else:");
    line("        pass");
    line("    else:");
    line("      pass");
    for (int i = kKeptSizes - 1; i > 0; --i) {
      line(fmt::format("    self.{} = self.{}", compilation(i), compilation(i - 1)));
      line(fmt::format("    self.{} = self.{}", sizes_of(i), sizes_of(i - 1)));
    }
    line(fmt::format("    self.{} = {}", sizes_of(0), call_sizes()));
  }

  // Writes the choice of the compilation for the sizes of this call.
  void choose_compilation() {
    line(fmt::format("    nnapi_sizes = {}", call_sizes()));
    std::string indent = "    ";
    for (int i = 0; i < kKeptSizes; ++i) {
      line(fmt::format("{}if torch.eq(nnapi_sizes, self.{}):", indent, sizes_of(i)));
      line(fmt::format("{}  nnapi_comp = unchecked_cast({}, self.{})", indent, kCompilation, compilation(i)));
      line(indent + "else:");
      indent += "  ";
    }
    line(fmt::format("{}nnapi_comp = (self).prepare({})", indent, boundary_.arguments()));
  }

  // Replaces float16 weights by float32 ones, one by one. The module keeps them: NNAPI refers to their memory.
  void widen_weights() {
    line("    for nnapi_i in range(torch.len(self.weights)):");
    line("      nnapi_weight = (self.weights)[nnapi_i]");
    line("      if torch.eq(ops.prim.dtype(nnapi_weight), 5):");
    line(
        "        nnapi_widened = torch._set_item(self.weights, nnapi_i, torch.to(nnapi_weight, 6, False, False, "
        "None))");
    line("      else:");
    line("        pass");
  }

  // Replaces int8 weights that have scales by float32 ones. A module that was saved after it ran has no such weights.
  void scale_weights() {
    line("    for nnapi_i in range(torch.len(self.weights)):");
    line("      nnapi_weight = (self.weights)[nnapi_i]");
    line("      nnapi_scales = (self.int8_scales)[nnapi_i]");
    line(
        "      nnapi_is_int8 = torch.__and__(torch.eq(ops.prim.dtype(nnapi_weight), 1), "
        "torch.gt(torch.numel(nnapi_scales), 0))");
    line("      if nnapi_is_int8:");
    line("        nnapi_floats = torch.to(nnapi_weight, 6, False, False, None)");
    line("        nnapi_scaled = torch._set_item(self.weights, nnapi_i, torch.mul_(nnapi_floats, nnapi_scales))");
    line("      else:");
    line("        pass");
  }

  // PyTorch's `init` compiles for sustained speed in full precision. Only pytorch_android 1.13.1 has `init2` as well.
  std::string compile_call() const {
    if (request_.preference == PreferenceCode::SUSTAINED_SPEED && !request_.relax_fp16) {
      return "init(self.ser_model, self.weights)";
    }
    return fmt::format("init2(self.ser_model, self.weights, {}, {})", static_cast<int>(request_.preference),
                       request_.relax_fp16 ? "True" : "False");
  }

  void prepare_method() {
    line(fmt::format("  def prepare(self: {}{}) -> {}:", class_, boundary_.parameters(), kCompilation));
    if (is_flexible()) patch_words();
    if (has_float16()) widen_weights();
    if (request_.serialized.has_int8()) scale_weights();
    line(fmt::format("    nnapi_comp = {0}.__new__({0})", kCompilation));
    line("    nnapi_created = (nnapi_comp).__init__()");
    line("    nnapi_started = (nnapi_comp)." + compile_call());
    if (is_flexible()) keep_compilations();
    line("    self.comp = nnapi_comp");
    line("    return nnapi_comp");
  }

  std::string empty_output(size_t index) const {
    const nnapi::Operand& operand = request_.model.at(request_.model.outputs[index].operand);
    const std::string sizes = boundary_.sizes_text(operand.dims);
    if (operand.type == OperandCode::TENSOR_QUANT8_ASYMM) {
      const Quantization& quantization = boundary_.output_of_nnapi(index).quantization;
      return fmt::format(
          "torch._empty_affine_quantized({}, dtype=13, layout=None, device=None, pin_memory=None, scale={}, "
          "zero_point={}, memory_format=None)",
          sizes, number(quantization.scale), quantization.zero_point);
    }
    const int dtype = operand.type == OperandCode::TENSOR_INT32   ? 3
                      : operand.type == OperandCode::TENSOR_BOOL8 ? 11
                                                                  : 6;
    return fmt::format("torch.empty({}, dtype={}, layout=None, device=None, pin_memory=None, memory_format=None)",
                       sizes, dtype);
  }

  void run_nnapi() {
    if (is_flexible()) {
      choose_compilation();
    } else {
      line("    if torch.__is__(self.comp, None):");
      line(fmt::format("      nnapi_comp = (self).prepare({})", boundary_.arguments()));
      line("    else:");
      line(fmt::format("      nnapi_comp = unchecked_cast({}, self.comp)", kCompilation));
    }
    std::string arguments;
    std::string results;
    for (size_t i = 0; i < request_.model.inputs.size(); ++i) {
      line(fmt::format("    nnapi_input_{} = {}", i, boundary_.nnapi_input(request_.model.inputs[i])));
      arguments += fmt::format("{}nnapi_input_{}", i ? ", " : "", i);
    }
    for (size_t i = 0; i < request_.model.outputs.size(); ++i) {
      line(fmt::format("    nnapi_output_{} = {}", i, empty_output(i)));
      results += fmt::format("{}nnapi_output_{}", i ? ", " : "", i);
    }
    line(fmt::format("    nnapi_done = (nnapi_comp).run([{}], [{}])", arguments, results));
  }

  void forward_method() {
    const ReturnTree& tree = request_.interface.return_tree;
    const ForwardArguments& arguments = request_.interface.arguments;
    const std::string parameters = arguments.empty() ? boundary_.parameters() : parameters_of(arguments);
    line(fmt::format("  def forward(self: {}{}) -> {}:", class_, parameters, return_type(tree)));
    text_ += bound_checks(arguments);
    line(fmt::format("    nnapi_checked = (self).check_inputs({})", boundary_.arguments()));
    run_nnapi();
    for (size_t i = 0; i < request_.interface.outputs.size(); ++i) {
      line(fmt::format("    nnapi_result_{} = {}", i, boundary_.output_value(i)));
    }
    line("    return " + BoundarySource::return_value(tree));
  }

  const WrapperRequest& request_;
  std::string class_;
  BoundarySource boundary_;
  std::string text_;
};

}  // namespace

std::string qualified_class(const std::string& name) {
  return fmt::format("{}.{}", kWrapperNamespace, name);
}

std::string wrapper_source(const WrapperRequest& request) {
  return WrapperSource(request).text();
}

}  // namespace nnapi_convert
