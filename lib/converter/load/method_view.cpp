// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/method_view.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/load/traced_inputs.h"

namespace nnapi_convert {
namespace {

constexpr const char* kForward = "forward";

bool is_of_user(const std::string& method) {
  return method.rfind("__", 0) != 0 && method.find("bundled_input") == std::string::npos;
}

void check_has(const torch::jit::Module& module, const std::string& method) {
  if (module.find_method(method)) return;
  throw ConvertError(ExitCode::kUsage, fmt::format("--method {}: the model has no such method; it has: {}", method,
                                                   fmt::join(methods_of(module), ", ")));
}

std::vector<AttributePath> changed_by_others(const torch::jit::Module& module, const std::string& method) {
  std::set<AttributePath> changed;
  for (const std::string& other : methods_of(module)) {
    if (other == method) continue;
    const std::set<AttributePath> more = attributes_changed_by(module, other);
    changed.insert(more.begin(), more.end());
  }
  return {changed.begin(), changed.end()};
}

// Returns a module of the same attributes whose forward is the method.
torch::jit::Module with_forward(const torch::jit::Module& original, const std::string& method) {
  torch::jit::Module module = original.clone(true);
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method(method).graph()->copy();
  torch::jit::Inline(*graph);  // it may call forward
  const c10::FunctionSchema schema = module.get_method(method).function().getSchema().cloneWithName(kForward, "");
  const c10::QualifiedName name(*module.type()->name(), kForward);
  const auto unit = module._ivalue()->compilation_unit();
  if (module.find_method(kForward)) {
    module.type()->unsafeRemoveMethod(kForward);
    unit->unsafeRemoveMethod(name);
  }
  torch::jit::Function* forward = unit->create_function(name, graph);
  forward->setSchema(schema);
  module.type()->addMethod(forward);
  return module;
}

// Returns the name without the method: "x" for "encode.x", "images[0]" for "encode.images[0]". Empty if it begins with
// no method or with another one.
std::string name_in(const std::string& method, const std::string& name) {
  return name.rfind(method + ".", 0) == 0 ? name.substr(method.size() + 1) : "";
}

bool takes(const torch::jit::Module& module, const std::string& method, const std::string& name) {
  const std::string argument = name.substr(0, name.find_first_of("[."));
  const std::vector<c10::Argument>& arguments = module.get_method(method).function().getSchema().arguments();
  return std::any_of(arguments.begin() + 1, arguments.end(),
                     [&](const c10::Argument& each) { return each.name() == argument; });
}

[[noreturn]] void fail(const InputSpec& spec, const std::vector<std::string>& methods) {
  if (spec.name.empty()) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--input {} doesn't say which method it is for: give its argument, for example "
                                   "--input {}.x=1,3,224,224",
                                   spec.text, methods[0]));
  }
  throw ConvertError(ExitCode::kUsage, fmt::format("--input {}: none of the methods {} takes such an argument",
                                                   spec.name, fmt::join(methods, ", ")));
}

// Adds the spec for the methods that it is for; false if there are none.
bool add_spec(const torch::jit::Module& module, const std::vector<std::string>& methods, const InputSpec& spec,
              std::vector<std::vector<InputSpec>>& specs) {
  for (size_t i = 0; i < methods.size(); ++i) {
    const std::string name = name_in(methods[i], spec.name);
    if (name.empty() || takes(module, methods[i], spec.name)) continue;
    if (!takes(module, methods[i], name)) return false;
    specs[i].push_back(spec);
    specs[i].back().name = name;
    return true;
  }
  bool is_added = false;
  for (size_t i = 0; i < methods.size(); ++i) {
    if (spec.name.empty() ? methods.size() > 1 : !takes(module, methods[i], spec.name)) continue;
    specs[i].push_back(spec);
    is_added = true;
  }
  return is_added;
}

}  // namespace

std::vector<std::string> methods_of(const torch::jit::Module& module) {
  std::vector<std::string> names;
  for (const torch::jit::Method& method : module.get_methods()) {
    if (is_of_user(method.name())) names.push_back(method.name());
  }
  return names;
}

void check_has_forward(const LoadedModel& loaded) {
  if (loaded.module.find_method("forward")) return;
  throw ConvertError(ExitCode::kBadFile,
                     fmt::format("can't read {}: the module has no forward method; convert others by --method: {}",
                                 loaded.path, fmt::join(methods_of(loaded.module), ", ")));
}

LoadedModel as_forward(const LoadedModel& loaded, const std::string& method) {
  check_has(loaded.module, method);
  LoadedModel view = loaded;
  view.changed_elsewhere = changed_by_others(loaded.module, method);
  view.read_elsewhere = attributes_read_beside(loaded.module, method);
  if (method == kForward) return view;
  view.module = with_forward(loaded.module, method);
  view.bundled_inputs.clear();
  view.stated.clear();
  view.numbers.clear();
  view.fixed.clear();
  view.bound.clear();
  ModelArchive archive(loaded.path);
  view.traced_inputs = read_traced_inputs(archive, method);
  return view;
}

std::vector<std::vector<InputSpec>> inputs_by_method(const torch::jit::Module& module,
                                                     const std::vector<std::string>& methods,
                                                     const std::vector<InputSpec>& inputs) {
  for (const std::string& method : methods) check_has(module, method);
  std::vector<std::vector<InputSpec>> specs(methods.size());
  for (const InputSpec& spec : inputs) {
    if (!add_spec(module, methods, spec, specs)) fail(spec, methods);
  }
  return specs;
}

}  // namespace nnapi_convert
