#include "lib/serialize/wrapper_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

constexpr const char* kCompilation = "__torch__.torch.classes._nnapi.Compilation";

// Local names begin with nnapi_, out of the way of forward's argument names.
class WrapperSource {
 public:
  explicit WrapperSource(const WrapperRequest& request) : request_(request) {
    for (const InterfaceInput& input : request.interface.inputs) {
      parameters_ += fmt::format(", {}: Tensor", input.name);
      arguments_ += input.name + ", ";
    }
  }

  std::string text() {
    line("class NnapiModule(Module):");
    attributes();
    check_method();
    prepare_method();
    forward_method();
    text_ += bundled_methods(kWrapperClass, request_.bundled_type);
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_ += content + "\n"; }

  const std::vector<InterfaceInput>& inputs() const { return request_.interface.inputs; }
  bool is_flexible() const { return !request_.serialized.patches.empty(); }

  void attributes() {
    line("  __parameters__ = []");
    line("  __buffers__ = []");
    line("  training : bool");
    line("  ser_model : Tensor");
    line("  weights : List[Tensor]");
    if (is_flexible()) {
      line("  patch_words : Tensor");
      for (size_t i = 0; i < inputs().size(); ++i) line(fmt::format("  prepared_{} : List[int]", i));
    }
    for (size_t i = 0; i < request_.interface.outputs.size(); ++i) {
      if (request_.interface.outputs[i].source == InterfaceOutput::Source::kConstant) {
        line(fmt::format("  constant_{} : Tensor", i));
      }
    }
    if (!request_.bundled_type.empty()) line(fmt::format("  bundled_inputs : List[{}]", request_.bundled_type));
    line(fmt::format("  comp : Optional[{}]", kCompilation));
  }

  // if CONDITION: raise "input NAME: WHAT {} found, NEEDED needed".
  void raise_if(const std::string& condition, const std::string& name, const std::string& what,
                const std::string& found, const std::string& needed) {
    line(fmt::format("    if {}:", condition));
    line(fmt::format(
        "      ops.prim.RaiseException(torch.format(\"nnapi-convert: input {}: {} {{}} found, {} needed\", {}))", name,
        what, needed, found));
    line("    else:");
    line("      pass");
  }

  // Sizes for people: "[1, 3, ?, ?]".
  static std::string shape_text(const Dims& dims) {
    std::string text;
    for (const Dim& dim : dims) text += (text.empty() ? "" : ", ") + (dim.is_fixed() ? dim.text() : "?");
    return "[" + text + "]";
  }

  void check_shape(const InterfaceInput& input) {
    const Dims& dims = input.type.dims;
    const std::string size = fmt::format("torch.size({})", input.name);
    if (all_fixed(dims)) {
      return raise_if(fmt::format("torch.ne({}, {})", size, to_text(dims)), input.name, "shape", size, to_text(dims));
    }
    raise_if(fmt::format("torch.ne(torch.dim({}), {})", input.name, dims.size()), input.name, "shape", size,
             shape_text(dims));
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (!dims[axis].is_fixed()) continue;
      raise_if(fmt::format("torch.ne(torch.size({}, {}), {})", input.name, axis, dims[axis].text()), input.name,
               "shape", size, shape_text(dims));
    }
  }

  // A condition: the number is not the same float32, which is what NNAPI gets.
  static std::string differs_as_float(const std::string& found, float needed) {
    const double low = (static_cast<double>(needed) + std::nextafter(needed, 0.0F)) / 2;
    const double high = (static_cast<double>(needed) + std::nextafter(needed, std::numeric_limits<float>::max())) / 2;
    return fmt::format("torch.__or__(torch.lt({0}, {1}), torch.gt({0}, {2}))", found, number(low), number(high));
  }

  void check_dtype(const InterfaceInput& input) {
    const std::string dtype = fmt::format("ops.prim.dtype({})", input.name);
    const auto needed = static_cast<int>(input.type.dtype);
    raise_if(fmt::format("torch.ne({}, {})", dtype, needed), input.name, "dtype number", dtype,
             fmt::format("{} ({})", needed, dtype_name(input.type.dtype)));
    if (!input.type.is_quantized()) return;
    const std::string scale = fmt::format("torch.q_scale({})", input.name);
    const std::string zero_point = fmt::format("torch.q_zero_point({})", input.name);
    const Quantization& quantization = input.type.quantization;
    raise_if(differs_as_float(scale, static_cast<float>(quantization.scale)), input.name, "scale", scale,
             number(quantization.scale));
    raise_if(fmt::format("torch.ne({}, {})", zero_point, quantization.zero_point), input.name, "zero point", zero_point,
             std::to_string(quantization.zero_point));
  }

  // The stock loader computes wrong numbers from another scale without a word, so the module checks for itself.
  void check_method() {
    line(fmt::format("  def check_inputs(self: {}{}) -> None:", kWrapperClass, parameters_));
    for (size_t i = 0; i < inputs().size(); ++i) {
      if (!inputs()[i].is_read) continue;
      check_dtype(inputs()[i]);
      check_shape(inputs()[i]);
      if (!is_flexible()) continue;
      const std::string size = fmt::format("torch.size({})", inputs()[i].name);
      line(fmt::format("    if torch.__isnot__(self.comp, None):"));
      line(fmt::format("      if torch.ne({}, self.prepared_{}):", size, i));
      line(fmt::format(
          "        ops.prim.RaiseException(torch.format(\"nnapi-convert: input {}: shape {{}} found, {{}} "
          "needed: the first call fixed it; load the module again for another shape\", {}, self.prepared_{}))",
          inputs()[i].name, size, i));
      line("      else:");
      line("        pass");
      line("    else:");
      line("      pass");
    }
    line("    return None");
  }

  std::string dim_text(const Dim& dim) const {
    return dim.text([this](int input, int axis) {
      return fmt::format("torch.size({}, {})", inputs()[static_cast<size_t>(input)].name, axis);
    });
  }

  // Writes the words that depend on the input's size. Equal expressions are computed once.
  void patch_words() {
    std::map<std::string, std::string> variables;
    std::string values;
    for (const WordPatch& patch : request_.serialized.patches) {
      const std::string expression = dim_text(patch.value);
      const auto [variable, is_new] = variables.emplace(expression, fmt::format("nnapi_size_{}", variables.size()));
      if (is_new) line(fmt::format("    {} = {}", variable->second, expression));
      values += (values.empty() ? "" : ", ") + variable->second;
    }
    line(fmt::format("    nnapi_values = torch.tensor([{}], dtype=3, device=None, requires_grad=False)", values));
    line("    nnapi_patched = torch.index_copy_(self.ser_model, 0, self.patch_words, nnapi_values)");
    for (size_t i = 0; i < inputs().size(); ++i) {
      line(fmt::format("    self.prepared_{} = torch.size({})", i, inputs()[i].name));
    }
  }

  void prepare_method() {
    line(fmt::format("  def prepare(self: {}{}) -> {}:", kWrapperClass, parameters_, kCompilation));
    if (is_flexible()) patch_words();
    line(fmt::format("    nnapi_comp = {0}.__new__({0})", kCompilation));
    line("    nnapi_created = (nnapi_comp).__init__()");
    line(fmt::format("    nnapi_started = (nnapi_comp).init2(self.ser_model, self.weights, {}, {})",
                     static_cast<int>(request_.preference), request_.relax_fp16 ? "True" : "False"));
    line("    self.comp = nnapi_comp");
    line("    return nnapi_comp");
  }

  static std::string as_dtype(const std::string& text, at::ScalarType dtype) {
    return fmt::format("torch.to({}, {}, False, False, None)", text, static_cast<int>(dtype));
  }

  // NNAPI's input number `index` from the caller's argument.
  std::string nnapi_input(const nnapi::Boundary& boundary) const {
    const InterfaceInput& input = inputs()[boundary.argument];
    std::string text = quantised_input(input);
    if (input.type.dtype == at::kLong || input.type.dtype == at::kBool) text = as_dtype(text, at::kInt);
    if (boundary.nhwc) text = fmt::format("torch.permute({}, [0, 2, 3, 1])", text);
    const Dims& dims = request_.model.at(boundary.operand).dims;
    if (dims.size() != input.type.rank()) text = fmt::format("torch.reshape({}, {})", text, sizes_text(dims));
    return fmt::format("torch.contiguous({})", text);
  }

  // A list of sizes, computed where they depend on the inputs.
  std::string sizes_text(const Dims& dims) const {
    std::vector<std::string> sizes;
    for (const Dim& dim : dims) sizes.push_back(dim_text(dim));
    return sizes.empty() ? "annotate(List[int], [])" : fmt::format("[{}]", fmt::join(sizes, ", "));
  }

  // The first of forward's outputs that NNAPI's output number `index` is.
  const InterfaceOutput& output_of_nnapi(size_t index) const {
    const auto& outputs = request_.interface.outputs;
    return *std::find_if(outputs.begin(), outputs.end(), [index](const InterfaceOutput& output) {
      return output.source == InterfaceOutput::Source::kNnapi && output.index == index;
    });
  }

  std::string empty_output(size_t index) const {
    const nnapi::Operand& operand = request_.model.at(request_.model.outputs[index].operand);
    const std::string sizes = sizes_text(operand.dims);
    if (operand.type == OperandCode::TENSOR_QUANT8_ASYMM) {
      const Quantization& quantization = output_of_nnapi(index).quantization;
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
    line("    if torch.__is__(self.comp, None):");
    line(fmt::format("      nnapi_comp = (self).prepare({})", arguments_));
    line("    else:");
    line(fmt::format("      nnapi_comp = unchecked_cast({}, self.comp)", kCompilation));
    std::string arguments;
    std::string results;
    for (size_t i = 0; i < request_.model.inputs.size(); ++i) {
      line(fmt::format("    nnapi_input_{} = {}", i, nnapi_input(request_.model.inputs[i])));
      arguments += fmt::format("{}nnapi_input_{}", i ? ", " : "", i);
    }
    for (size_t i = 0; i < request_.model.outputs.size(); ++i) {
      line(fmt::format("    nnapi_output_{} = {}", i, empty_output(i)));
      results += fmt::format("{}nnapi_output_{}", i ? ", " : "", i);
    }
    line(fmt::format("    nnapi_done = (nnapi_comp).run([{}], [{}])", arguments, results));
  }

  // The argument as NNAPI's input holds it, but for the layout.
  static std::string quantised_input(const InterfaceInput& input) {
    if (!input.quantize) return input.name;
    return fmt::format("torch.quantize_per_tensor({}, {}, {}, 13)", input.name, number(input.quantize->scale),
                       input.quantize->zero_point);
  }

  std::string output_value(size_t number) const {
    const InterfaceOutput& output = request_.interface.outputs[number];
    const std::string text = output.source == InterfaceOutput::Source::kInput ? quantised_input(inputs()[output.index])
                             : output.source == InterfaceOutput::Source::kConstant
                                 ? fmt::format("self.constant_{}", number)
                                 : nnapi_output(output);
    return output.dequantize ? fmt::format("torch.dequantize({})", text) : text;
  }

  std::string nnapi_output(const InterfaceOutput& output) const {
    std::string text = fmt::format("nnapi_output_{}", output.index);
    if (request_.model.outputs[output.index].nhwc) text = fmt::format("torch.permute({}, [0, 3, 1, 2])", text);
    if (output.shape) text = fmt::format("torch.reshape({}, {})", text, sizes_text(*output.shape));
    return output.dtype == at::kLong ? as_dtype(text, at::kLong) : text;
  }

  std::string return_value(const ReturnTree& tree) const {
    if (tree.kind == ReturnTree::Kind::kTensor) return fmt::format("nnapi_result_{}", tree.tensor);
    std::vector<std::string> elements;
    for (const ReturnTree& element : tree.elements) elements.push_back(return_value(element));
    return collection(tree, elements);
  }

  void forward_method() {
    const ReturnTree& tree = request_.interface.return_tree;
    line(fmt::format("  def forward(self: {}{}) -> {}:", kWrapperClass, parameters_, return_type(tree)));
    line(fmt::format("    nnapi_checked = (self).check_inputs({})", arguments_));
    run_nnapi();
    for (size_t i = 0; i < request_.interface.outputs.size(); ++i) {
      line(fmt::format("    nnapi_result_{} = {}", i, output_value(i)));
    }
    line("    return " + return_value(tree));
  }

  const WrapperRequest& request_;
  std::string parameters_;  // ", x: Tensor, y: Tensor"
  std::string arguments_;   // "x, y, "
  std::string text_;
};

}  // namespace

std::string wrapper_source(const WrapperRequest& request) {
  return WrapperSource(request).text();
}

}  // namespace nnapi_convert
