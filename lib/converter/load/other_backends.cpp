// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/other_backends.h"

#include <fmt/format.h>

#include <filesystem>

#include "lib/base/error.h"
#include "lib/converter/load/save_advice.h"

namespace nnapi_convert {
namespace {

struct Backend {
  const char* name_space;  // namespace of its classes
  const char* found;
};

constexpr Backend kBackends[] = {
    {"torch.classes.vulkan.", "weights packed for Vulkan, as optimize_for_mobile(backend=\"vulkan\") packs them"},
    {"torch.classes.metal.", "weights packed for Metal, as optimize_for_mobile(backend=\"metal\") packs them"},
    {"torch.classes.mkldnn.", "weights packed for oneDNN, as torch.jit.optimize_for_inference packs them"},
    {"torch.classes.__backends__.coreml", "parts compiled for Core ML"},
    {"torch.classes.__backends__.", "parts compiled for another backend"},
    {"torch.classes._nnapi.", "parts that torch.backends._nnapi converted for NNAPI"},
};

std::string advice() {
  return "convert the file that the model, as it was before, gives by " + how_to_save();
}

const Backend* find_backend(const std::string& name) {
  for (const Backend& backend : kBackends) {
    if (name.find(backend.name_space) != std::string::npos) return &backend;
  }
  return nullptr;
}

}  // namespace

std::string missing_class(const std::string& message) {
  const std::string before = "Unknown type name '";
  const size_t found = message.find(before);
  if (found == std::string::npos) return "";
  const size_t begin = found + before.size();
  const std::string name = message.substr(begin, message.find('\'', begin) - begin);
  if (const Backend* backend = find_backend(name)) {
    return fmt::format("it holds {} ({}); {}", backend->found, name, advice());
  }
  if (name.find("torch.classes.") == std::string::npos) return "";
  return fmt::format("the class {} is not registered; give the library that has it with --torch-library", name);
}

void check_has_own_weights(ModelArchive& archive) {
  constexpr const char* kFolder = "code/";
  const auto& records = archive.records();
  for (auto record = records.lower_bound(kFolder); record != records.end(); ++record) {
    const std::string& name = record->first;
    if (name.rfind(kFolder, 0) != 0) return;
    if (std::filesystem::path(name).extension() != ".py") continue;
    if (archive.content(name)->find("ops.prim.ConstantMKLDNNTensor(") == std::string::npos) continue;
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("can't read {}: torch.jit.optimize_for_inference packed its weights for oneDNN, and "
                                   "torch.jit.save left them out, so that PyTorch can't read the file either; {}",
                                   archive.path(), advice()));
  }
}

void check_no_other_backend(const torch::jit::Module& module, const std::string& path) {
  for (const torch::jit::NameModule& each : module.named_modules()) {
    for (const c10::ClassAttribute& attribute : each.value.type()->getAttributes()) {
      const std::string type = attribute.getType()->annotation_str();
      const Backend* backend = find_backend(type);
      if (backend == nullptr) continue;
      throw ConvertError(ExitCode::kNotConvertible,
                         fmt::format("{} holds {} ({}, {}); {}", path, backend->found,
                                     each.name.empty() ? "the module itself" : each.name, type, advice()));
    }
  }
}

}  // namespace nnapi_convert
