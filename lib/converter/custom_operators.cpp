#include "lib/converter/custom_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include "lib/base/error.h"
#include "lib/ops/known_refusals.h"
#include "lib/ops/registry.h"

namespace nnapi_convert {
namespace {

constexpr const char* kNamespace = "torchvision";

void declare(torch::Library& library, const std::string& schema) {
  if (schema.compare(0, std::string(kNamespace).size(), kNamespace) != 0) return;
  c10::FunctionSchema parsed = torch::jit::parseSchema(schema);
  const c10::OperatorName name(parsed.name(), parsed.overload_name());
  if (!c10::Dispatcher::singleton().findSchema(name)) library.def(std::move(parsed));
}

}  // namespace

void load_torch_library(const std::string& path) {
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't load the library {}: {}", path, dlerror()));
}

void declare_custom_operators() {
  // The declarations last as long as the library object.
  static torch::Library* const library = [] {
    auto* made = new torch::Library(torch::Library::FRAGMENT, kNamespace, c10::nullopt, __FILE__, __LINE__);
    for (const OpRule& rule : all_rules()) declare(*made, rule.schema);
    for (const char* schema : refused_custom_operators()) declare(*made, schema);
    return made;
  }();
  (void)library;
}

std::string missing_operator(const std::string& message) {
  struct Form {
    const char* before;
    const char* after;
    const char* text;
  };
  constexpr Form kForms[] = {{"Unknown builtin op: ", ".\n", "is not registered"},
                             {"Could not run '", "'", "has no CPU kernel"}};
  for (const Form& form : kForms) {
    const size_t found = message.find(form.before);
    if (found == std::string::npos) continue;
    const size_t begin = found + std::string(form.before).size();
    return fmt::format("the operator {} {}; give the library that has it with --torch-library",
                       message.substr(begin, message.find(form.after, begin) - begin), form.text);
  }
  return "";
}

}  // namespace nnapi_convert
