// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/emit/torch_runs.h"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/runtime/print_handler.h>

#include <memory>
#include <optional>
#include <string>

#include "lib/converter/emit/check_tolerance.h"
#include "lib/converter/emit/emit_cpu.h"
#include "lib/converter/frontend/arguments.h"
#include "lib/converter/frontend/float_products.h"
#include "lib/converter/frontend/freeze.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/graph/recognised_forms.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert {
namespace {

void collect_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) collect_tensors(element, tensors);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) collect_tensors(element, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) collect_tensors(entry.value(), tensors);
  }
}

// While it lives, running a model prints nothing.
class Silence {
 public:
  Silence() : before_(torch::jit::getPrintHandler()) {
    torch::jit::setPrintHandler([](const std::string&) {});
  }
  ~Silence() { torch::jit::setPrintHandler(before_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  torch::jit::PrintHandler before_;
};

// Returns the model that NNAPI computes. For a dynamically quantised model, or one in another dtype: the float model
// that it stands for. For a quantised one: its products as they are defined, whatever this machine's kernels make of
// them.
torch::jit::Module converted_meaning(const LoadedModel& loaded, const NnapiPart& part) {
  std::optional<torch::jit::Module> meaning = float_meaning(loaded);
  if (!meaning && quantised_operations(part.model) > 0) meaning = with_float_products(loaded, Products::kAll);
  if (!meaning) return cpu_counterpart(loaded, part.interface, {});
  LoadedModel meant = loaded;
  meant.module = *meaning;
  return cpu_counterpart(meant, part.interface, {});
}

}  // namespace

TorchRun run_of_whole(const LoadedModel& loaded, const NnapiPart& part) {
  return [module = converted_meaning(loaded, part),
          arguments = part.interface.arguments](const std::vector<at::Tensor>& inputs) mutable {
    const c10::InferenceMode guard;
    const KernelsAsDefined kernels(saved_graphs(module));
    const Silence silence;
    std::vector<at::Tensor> outputs;
    collect_tensors(module.forward(call_of(arguments, inputs)), outputs);
    return outputs;
  };
}

TorchRun run_of_segment(const Segment& segment) {
  const std::shared_ptr<torch::jit::Graph> graph = segment.model.graph->copy();
  use_recognised_forms(*graph);
  make_float_products(*graph, Products::kAll);
  return [code = torch::jit::Code(graph, "segment"), graph](const std::vector<at::Tensor>& inputs) {
    const c10::InferenceMode guard;
    const KernelsAsDefined kernels({graph});
    torch::jit::Stack stack(inputs.begin(), inputs.end());
    torch::jit::InterpreterState(code).run(stack);
    std::vector<at::Tensor> outputs;
    for (const c10::IValue& value : stack) collect_tensors(value, outputs);
    return outputs;
  };
}

}  // namespace nnapi_convert
