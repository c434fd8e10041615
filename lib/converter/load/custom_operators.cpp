// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/custom_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include <filesystem>

#include "lib/base/error.h"
#include "lib/base/input_file.h"
#include "lib/ops/families.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

// Declares the operators of a namespace; what is declared lasts for the rest of the process.
void declare(const char* name_space, const std::vector<const char*>& schemas) {
  auto* library = new torch::Library(torch::Library::FRAGMENT, name_space, c10::nullopt, __FILE__, __LINE__);
  const std::string prefix = std::string(name_space) + "::";
  for (const char* schema : schemas) {
    if (std::string(schema).compare(0, prefix.size(), prefix) != 0) continue;
    c10::FunctionSchema parsed = torch::jit::parseSchema(schema);
    const c10::OperatorName name(parsed.name(), parsed.overload_name());
    if (c10::Dispatcher::singleton().findSchema(name)) continue;
    parsed.setAliasAnalysis(c10::AliasAnalysisKind::FROM_SCHEMA);  // as the library itself declares them
    library->def(std::move(parsed));
  }
}

constexpr const char* kGiveLibrary = "; give the library that has it with --torch-library";
constexpr const char* kNewerPyTorch =
    " in PyTorch 1.13.1, which runs the model on the device: the file is of a newer release; write this step with "
    "operators that 1.13.1 has, and save the model again";
constexpr const char* kOlderPyTorch =
    " in PyTorch 1.13.1, which runs the model on the device: the file is of PyTorch 1.5 or older, and newer releases "
    "dropped that form; build the model with PyTorch 1.6 to 1.13, quantise it there if it is quantised, and save it "
    "again";
constexpr const char* kOtherPyTorch =
    " in PyTorch 1.13.1, which runs the model on the device: the file is of another release; write this step with "
    "operators that 1.13.1 has, and save the model again";

constexpr const char* kPythonsOperators =
    " in PyTorch's C++ library: Python's torch._prims makes it, and no device can run it; write this step with "
    "operators "
    "of torch or torch.ops.aten, and save the model again";

// The last archive format of PyTorch 1.5 and older.
constexpr uint64_t kLastOldFormat = 2;

// True if the message is about a quantised layer of PyTorch 1.3 or 1.4: its packed weights are a tensor.
bool is_of_old_weights(const std::string& message) {
  const size_t found = message.find("Expected a value of type '__torch__.torch.classes.quantized.");
  return found != std::string::npos && message.find("found type 'Tensor'", found) != std::string::npos;
}

// True for an operator of PyTorch's own, which no library can bring.
bool is_of_pytorch(const std::string& name) {
  const std::string name_space = name.substr(0, name.find("::"));
  return name_space == "aten" || name_space == "prim" || name_space == "quantized" || name_space == "prims";
}

bool declare_all() {
  std::vector<const char*> schemas = refused_custom_operators();
  for (const OpRules& rules : {all_rules(), recognised_rules()}) {
    for (const OpRule& rule : rules) schemas.push_back(rule.schema);
  }
  declare("torchvision", schemas);
  declare("nnapi_convert", schemas);
  return true;
}

}  // namespace

void load_torch_library(const std::string& path) {
  const std::string problem = problem_of_library(path);
  if (problem.empty() && dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  const std::string reason = problem.empty() ? dlerror() : problem;
  std::error_code ignored;
  const bool is_here = path.find('/') == std::string::npos && std::filesystem::exists(path, ignored);
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("can't load the library {}: {}{}", path, reason,
                                 is_here ? fmt::format("; for the file in this folder write ./{}", path) : ""));
}

void declare_custom_operators() {
  static const bool is_done = declare_all();
  (void)is_done;
}

std::string missing_operator(const std::string& message, std::optional<uint64_t> format) {
  struct Form {
    const char* before;
    const char* after;
    const char* text;
    const char* of_pytorch;  // what to do if it is PyTorch's own operator
    bool depends_on_release = true;
  };
  constexpr Form kForms[] = {{"Unknown builtin op: ", ".\n", "is not registered", kNewerPyTorch},
                             {"Could not run '", "'", "has no CPU kernel", " here", false},
                             {"Arguments for call are not valid.\nThe following variants are available:\n", "(",
                              "has no such arguments", kOtherPyTorch}};
  const bool is_old = (format && *format <= kLastOldFormat) || is_of_old_weights(message);
  for (const Form& form : kForms) {
    const size_t found = message.find(form.before);
    if (found == std::string::npos) continue;
    const size_t begin = message.find_first_not_of(" \n", found + std::string(form.before).size());
    if (begin == std::string::npos) return "";
    const std::string name = message.substr(begin, message.find(form.after, begin) - begin);
    const char* hint = !is_of_pytorch(name)                ? kGiveLibrary
                       : is_old && form.depends_on_release ? kOlderPyTorch
                                                           : form.of_pytorch;
    if (name.rfind("prims::", 0) == 0) hint = kPythonsOperators;
    return fmt::format("the operator {} {}{}", name, form.text, hint);
  }
  return "";
}

}  // namespace nnapi_convert
