#include "lib/serialize/torchscript_emitter.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/versions.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/import_source.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "lib/base/error.h"
#include "lib/serialize/cpu_source.h"
#include "lib/serialize/metadata.h"

namespace nnapi_convert {
namespace {

// Compiles a class of our namespace into a unit, which may hold classes that the source names.
torch::jit::Module compile(const std::string& text, const char* class_name,
                           const std::shared_ptr<torch::jit::CompilationUnit>& unit) {
  const auto source = std::make_shared<torch::jit::Source>(text, "nnapi_convert.py", 1);
  const std::vector<c10::IValue> constants;
  // Only our own namespace has source; the importer asks for those of classes, too.
  const auto load = [&](const std::string& qualifier) -> std::shared_ptr<torch::jit::Source> {
    return qualifier == kWrapperNamespace ? source : nullptr;
  };
  const torch::jit::SourceImporter importer(unit, &constants, load, caffe2::serialize::kProducedFileFormatVersion);
  const auto type = importer.loadType(c10::QualifiedName(class_name))->expect<c10::ClassType>();
  return torch::jit::Module(unit, type);
}

at::Tensor words_tensor(const std::vector<int32_t>& words) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(words.size())}, at::kInt);
  std::memcpy(tensor.data_ptr(), words.data(), 4 * words.size());
  return tensor;
}

at::ScalarType scalar_type(nnapi::DataType type) {
  switch (type) {
    case nnapi::DataType::kFloat32:
      return at::kFloat;
    case nnapi::DataType::kInt32:
      return at::kInt;
    case nnapi::DataType::kInt8:
      return at::kChar;
    case nnapi::DataType::kUInt8:
      return at::kByte;
    case nnapi::DataType::kBool:
      return at::kBool;
  }
  NNC_ASSERT(false, "unknown data type");
}

// A weight as NNAPI reads it, in the constant's own memory.
at::Tensor weight_tensor(const nnapi::Constant& constant) {
  const nnapi::Constant value = constant.evaluated();
  auto keep_alive = [owner = value.owner()](void*) {};
  return at::from_blob(const_cast<void*>(value.source()), value.shape(), keep_alive, scalar_type(value.type()));
}

// A sample in little space: one whose elements are all equal keeps one of them.
at::Tensor compact_sample(const at::Tensor& tensor) {
  if (tensor.numel() < 2) return tensor;
  const at::Tensor flat = tensor.contiguous().view({-1});
  const at::Tensor values = tensor.is_quantized() ? flat.int_repr() : flat;
  if (!values.eq(values[0]).all().item().toBool()) return tensor.contiguous();
  return flat.slice(0, 0, 1).clone().as_strided(tensor.sizes(), std::vector<int64_t>(tensor.sizes().size(), 0));
}

c10::IValue bundled_list(const std::vector<std::vector<c10::IValue>>& samples, size_t inputs) {
  const auto tuple_type = c10::TupleType::create(std::vector<c10::TypePtr>(inputs, c10::TensorType::get()));
  c10::impl::GenericList list(tuple_type);
  for (const auto& sample : samples) {
    std::vector<c10::IValue> tensors;
    for (const c10::IValue& value : sample) tensors.emplace_back(compact_sample(value.toTensor()));
    list.push_back(c10::ivalue::Tuple::create(std::move(tensors)));
  }
  return list;
}

std::string bundled_type(size_t inputs) {
  std::string text;
  for (size_t i = 0; i < inputs; ++i) text += i ? ", Tensor" : "Tensor";
  return "Tuple[" + text + "]";
}

// Attributes that only flexible sizes need.
void set_flexible_attributes(torch::jit::Module& module, const SerializedModel& serialized, size_t inputs) {
  if (serialized.patches.empty()) return;
  std::vector<int64_t> words;
  for (const WordPatch& patch : serialized.patches) words.push_back(static_cast<int64_t>(patch.word));
  module.setattr("patch_words", at::tensor(words, at::kLong));
  for (size_t i = 0; i < inputs; ++i) module.setattr(fmt::format("prepared_{}", i), c10::List<int64_t>());
}

// `path` is a temporary one, of which callers know the file name only. The system's reason says more than LibTorch's.
[[noreturn]] void fail_to_write(const std::string& path, const std::string& reason) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string text = errno != 0 ? std::strerror(errno) : reason.substr(0, reason.find('\n'));
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't write {}: {}", name, text));
}

// True if the file ends in a zip archive's end record (22 bytes, beginning with "PK\5\6").
bool ends_like_archive(const std::string& path) {
  constexpr std::streamoff kEndRecordBytes = 22;
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 4> signature{};
  stream.seekg(-kEndRecordBytes, std::ios::end);
  return stream.read(signature.data(), signature.size()) && std::string_view(signature.data(), 4) == "PK\x05\x06";
}

}  // namespace

torch::jit::Module build_module(const nnapi::Model& model, const SerializedModel& serialized,
                                const ModuleInterface& interface, PreferenceCode preference, bool relax_fp16,
                                const std::vector<std::vector<c10::IValue>>& bundled_inputs) {
  const size_t inputs = interface.inputs.size();
  const std::string bundled = bundled_inputs.empty() ? "" : bundled_type(inputs);
  const std::string source = wrapper_source({model, serialized, interface, preference, relax_fp16, bundled});
  torch::jit::Module module = compile(source, kWrapperClass, std::make_shared<torch::jit::CompilationUnit>());
  module.setattr("training", false);
  module.setattr("ser_model", words_tensor(serialized.words));
  c10::List<at::Tensor> weights;
  for (const nnapi::Constant& constant : serialized.buffers) weights.push_back(weight_tensor(constant));
  module.setattr("weights", weights);
  set_flexible_attributes(module, serialized, inputs);
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    if (interface.outputs[i].source != InterfaceOutput::Source::kConstant) continue;
    module.setattr(fmt::format("constant_{}", i), interface.outputs[i].constant);
  }
  if (!bundled_inputs.empty()) module.setattr("bundled_inputs", bundled_list(bundled_inputs, inputs));
  module.setattr("comp", c10::IValue());
  return module;
}

torch::jit::Module build_cpu_module(const torch::jit::Module& original, const ModuleInterface& interface,
                                    const std::vector<std::vector<c10::IValue>>& bundled_inputs) {
  const std::string bundled = bundled_inputs.empty() ? "" : bundled_type(interface.inputs.size());
  const std::string source = cpu_source(original.type()->name()->qualifiedName(), interface, bundled);
  torch::jit::Module module = compile(source, kCpuClass, original._ivalue()->compilation_unit());
  module.setattr("training", false);
  module.setattr("model", original._ivalue());
  if (!bundled_inputs.empty()) module.setattr("bundled_inputs", bundled_list(bundled_inputs, interface.inputs.size()));
  return module;
}

void write_module(const torch::jit::Module& module, const std::string& path, const std::string& metadata) {
  torch::jit::ExtraFilesMap extra_files;
  if (!metadata.empty()) extra_files[kMetadataFile] = metadata;
  const bool is_lite = std::filesystem::path(path).extension() == ".ptl";
  errno = 0;
  auto writer = std::make_unique<caffe2::serialize::PyTorchStreamWriter>(path);
  try {
    torch::jit::ScriptModuleSerializer(*writer).serialize(module, extra_files, is_lite, false);
    writer->writeEndOfFile();
  } catch (const std::exception& error) {
    // The writer's destructor would try to finish the archive, fail again, and end the process: leave it.
    static_cast<void>(writer.release());
    fail_to_write(path, error.what());
  }
  writer.reset();
  // LibTorch writes the last bytes without checking.
  if (!ends_like_archive(path)) fail_to_write(path, "it ends early; is the disk full?");
}

}  // namespace nnapi_convert
