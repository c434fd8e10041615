// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/shim_runner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "lib/base/error.h"
#include "lib/base/host_library.h"
#include "lib/base/value_path.h"
#include "lib/shim/archive.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_convert {
namespace {

bool holds_text(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::StringType) return true;
  const auto parts = type->containedTypes();
  // Skips the keys of a dict, which stand in paths.
  const size_t first = type->kind() == c10::TypeKind::DictType ? 1 : 0;
  for (size_t i = first; i < parts.size(); ++i) {
    if (holds_text(parts[i])) return true;
  }
  return false;
}

// Returns a dict's key in the form that the shim gives it in paths.
std::string key_text(const c10::IValue& key) {
  if (key.isString()) return key.toStringRef();
  if (key.isBool()) return key.toBool() ? "True" : "False";
  return key.isDouble() ? fmt::format("{:.17g}", key.toDouble()) : fmt::format("{}", key.toInt());
}

// The tensors of a value with their paths, as a call of the shim takes them. Their memory lives as long as the call.
struct NamedCall {
  std::deque<std::string> paths;
  std::deque<at::Tensor> kept;
  std::vector<nnapi_shim_named_tensor> tensors;

  void add(const std::string& path, const at::Tensor& tensor) {
    paths.push_back(path);
    // Quantised tensors are given as their integers.
    kept.push_back((tensor.is_quantized() ? tensor.int_repr() : tensor).contiguous());
    const at::Tensor& row_major = kept.back();
    tensors.push_back({paths.back().c_str(), static_cast<int32_t>(row_major.scalar_type()),
                       static_cast<uint32_t>(row_major.dim()), row_major.sizes().data(), row_major.data_ptr(),
                       row_major.nbytes()});
  }

  void add(ValuePath path, const c10::IValue& value) {
    const auto add_part = [&](const std::string& name, bool is_field, const c10::IValue& part) {
      path.steps.push_back({name, is_field});
      add(path, part);
      path.steps.pop_back();
    };
    if (value.isTensor()) {
      add(to_text(path), value.toTensor());
    } else if (value.isBool() || value.isInt() || value.isDouble()) {
      const at::ScalarType dtype = value.isBool() ? at::kBool : value.isInt() ? at::kLong : at::kDouble;
      add(to_text(path), at::scalar_tensor(value.toScalar(), at::TensorOptions(dtype)));
    } else if (value.isString()) {
      const std::string& text = value.toStringRef();
      const at::Tensor bytes = at::empty({static_cast<int64_t>(text.size())}, at::TensorOptions(at::kByte));
      std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
      add(to_text(path), bytes);
    } else if (value.isTuple()) {
      const auto& elements = value.toTupleRef().elements();
      const auto& type = value.type()->expectRef<c10::TupleType>();
      for (size_t i = 0; i < elements.size(); ++i) {
        const bool is_named = type.schema() != nullptr;
        add_part(is_named ? type.schema()->arguments()[i].name() : std::to_string(i), is_named, elements[i]);
      }
    } else if (value.isList()) {
      size_t number = 0;
      for (const c10::IValue& element : value.toListRef()) add_part(std::to_string(number++), false, element);
    } else if (value.isGenericDict()) {
      for (const auto& entry : value.toGenericDict()) {
        add_part(key_text(entry.key()), false, entry.value());
      }
    }
  }
};

}  // namespace

struct ShimRunner::Parts {
  std::string path;
  const Metadata& metadata;
  c10::FunctionSchema forward;
  bool has_names = false;
  nnapi_shim_model* model = nullptr;
  nnapi_shim_result* result = nullptr;

  at::Tensor result_tensor(uint32_t number) const {
    nnapi_shim_named_tensor found{};
    nnapi_shim_error error{};
    nnapi_shim_result_tensor(result, number, &found, &error);
    const c10::IntArrayRef sizes(found.sizes, found.rank);
    const at::Tensor copy = at::empty(sizes, at::TensorOptions(static_cast<at::ScalarType>(found.dtype)));
    std::memcpy(copy.data_ptr(), found.data, found.bytes);
    if (has_names || number >= metadata.outputs.size() || metadata.outputs[number].scale == 0) return copy;
    const Quantization& quantization = metadata.outputs[number];
    return (copy.to(at::kFloat) - static_cast<double>(quantization.zero_point)) * quantization.scale;
  }
};

ShimRunner::ShimRunner(const std::string& path, const Metadata& metadata, const c10::FunctionSchema& forward,
                       uint32_t variant)
    : parts_(new Parts{path, metadata, forward}) {
  for (const c10::Argument& returned : forward.returns()) {
    if (!holds_text(returned.type())) continue;
    throw ConvertError(ExitCode::kUsage, fmt::format("--without-torch: forward of {} gives texts, which are not "
                                                     "compared; verify it with PyTorch",
                                                     path));
  }
  nnapi_shim_error error{};
  nnapi_shim::Archive archive;
  if (archive.open(path.c_str(), &error) != NNAPI_SHIM_OK ||
      nnapi_shim_open_file(path.c_str(), &parts_->model, &error) != NNAPI_SHIM_OK) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("--without-torch: {}", error.message));
  }
  parts_->has_names = archive.program().data != nullptr;
  const std::string library = host_library_path();
  nnapi_shim_options options{};
  options.struct_bytes = sizeof options;
  options.library = library.c_str();
  options.variant = variant;
  parts_->result = nnapi_shim_result_new();
  if (nnapi_shim_configure(parts_->model, &options, &error) != NNAPI_SHIM_OK) {
    throw ConvertError(ExitCode::kVerificationFailed, fmt::format("{}: {}", path, error.message));
  }
}

ShimRunner::~ShimRunner() {
  nnapi_shim_result_free(parts_->result);
  nnapi_shim_close(parts_->model);
}

Tensors ShimRunner::run(const ForwardArguments& arguments, const Values& leaves) {
  NamedCall call;
  if (parts_->has_names) {
    const InputTuple values = assemble(arguments, leaves);
    const std::vector<c10::Argument>& declared = parts_->forward.arguments();  // the first one is self
    for (size_t i = 0; i < values.size(); ++i) call.add(ValuePath{declared.at(i + 1).name()}, values[i]);
  } else {
    with_tensors(leaves, [&](size_t number, const at::Tensor& tensor) {
      call.add(std::to_string(number), tensor);
      return tensor;
    });
  }
  nnapi_shim_error error{};
  const std::string& method = parts_->metadata.method;
  const int status = nnapi_shim_call(parts_->model, method.empty() ? nullptr : method.c_str(), call.tensors.data(),
                                     static_cast<uint32_t>(call.tensors.size()), parts_->result, &error);
  if (status != NNAPI_SHIM_OK) {
    throw ConvertError(ExitCode::kVerificationFailed,
                       fmt::format("{} doesn't run without PyTorch: {}", parts_->path, error.message));
  }
  Tensors results;
  for (uint32_t i = 0; i < nnapi_shim_result_count(parts_->result); ++i) results.push_back(parts_->result_tensor(i));
  return results;
}

}  // namespace nnapi_convert
