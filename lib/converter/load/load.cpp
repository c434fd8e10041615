// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/load.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "lib/base/error.h"
#include "lib/base/watched_run.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/graph/neutral_arithmetic.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/graph/read_problem.h"
#include "lib/converter/graph/silenced_warnings.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/archive_check.h"
#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/dynamic_quantisation.h"
#include "lib/converter/load/extra_files.h"
#include "lib/converter/load/file_kind.h"
#include "lib/converter/load/module_reader.h"
#include "lib/converter/load/newer_operators.h"
#include "lib/converter/load/old_convolutions.h"
#include "lib/converter/load/other_backends.h"
#include "lib/converter/load/other_devices.h"
#include "lib/converter/load/quantised_tables.h"
#include "lib/converter/load/traced_inputs.h"
#include "lib/converter/load/training_mode.h"
#include "lib/converter/load/wild_arguments.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, reason));
}

std::vector<InputTuple> read_bundled_inputs(torch::jit::Module& module) {
  std::vector<InputTuple> result;
  const auto method = module.find_method("get_all_bundled_inputs");
  if (!method) return result;
  const c10::IValue samples = (*method)({});
  for (const c10::IValue& sample : samples.toListRef()) {
    if (sample.isTuple()) result.push_back(sample.toTupleRef().elements().vec());
  }
  return result;
}

LoadedModel load_exported_model(const std::string& path, Diagnostics& diagnostics, WeightChecks checks) {
  ExportedModel exported = load_exported(path, diagnostics, checks == WeightChecks::kAtOnce);
  take_newer_operators_apart(exported.module);
  check_constant_arguments(exported.module);
  LoadedModel loaded{path, exported.module, std::move(exported.samples)};
  loaded.stated = std::move(exported.tensors);
  loaded.guards = std::move(exported.guards);
  loaded.numbers = std::move(exported.numbers);
  loaded.fixed = std::move(exported.fixed);
  loaded.checks = std::move(exported.checks);
  loaded.extra_files = without_own_files(std::move(exported.extra_files));
  if (exported.is_dynamically_quantised) warn_of_dynamic_quantisation(diagnostics);
  return loaded;
}

}  // namespace

std::string first_line(const std::exception& error) {
  return torch_reason(error);
}

at::ScalarType float_dtype_of(at::ScalarType dtype) {
  return c10::isFloatingType(dtype) ? dtype : at::ScalarType::Undefined;
}

StatedFloats stated_floats_of(const InputTuple& arguments) {
  StatedFloats stated;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isTensor() || !arguments[i].toTensor().defined()) continue;
    const at::Tensor& tensor = arguments[i].toTensor();
    stated[i + 1] = {float_dtype_of(tensor.scalar_type()), tensor.dim() == 0};
  }
  return stated;
}

std::optional<at::ScalarType> width_of(const LoadedModel& loaded) {
  if (const auto width = float_width(loaded.module)) return width;
  const auto is_float = [](const at::Tensor& tensor) { return tensor.defined() && tensor.is_floating_point(); };
  for (const at::Tensor& parameter : loaded.module.parameters()) {
    if (is_float(parameter)) return std::nullopt;
  }
  for (const at::Tensor& buffer : loaded.module.buffers()) {
    if (is_float(buffer)) return std::nullopt;
  }
  std::set<at::ScalarType> dtypes;
  for (const auto& [argument, stated] : loaded.stated_floats) {
    if (stated.dtype) dtypes.insert(*stated.dtype);
  }
  dtypes.erase(at::ScalarType::Undefined);
  return dtypes.size() == 1 && is_other_width(*dtypes.begin()) ? std::optional(*dtypes.begin()) : std::nullopt;
}

void check_is_archive(const std::string& path) {
  check_file_kind(path, true);
}

LoadedModel load_model(const std::string& path, Diagnostics& diagnostics, WeightChecks checks) {
  std::error_code no_file;
  const uintmax_t bytes = std::filesystem::file_size(path, no_file);
  tell_step("load");
  if (!no_file) tell_file_size(bytes);
  const bool is_exported = check_file_kind(path, false) == FileKind::Format::kExported;
  choose_quantised_engine();
  silence_warnings();
  declare_custom_operators();
  declare_newer_operators();
  if (is_exported) {
    LoadedModel exported = load_exported_model(path, diagnostics, checks);
    keep_neutral_arithmetic(exported.module);
    return exported;
  }
  LoadedModel loaded{path, {}, {}};
  std::optional<uint64_t> format;
  try {
    ModelArchive archive(path);
    format = archive.reader().version();
    if (checks == WeightChecks::kAsRead) loaded.checks = archive.check_weights_later();
    check_archive(archive, checks == WeightChecks::kAsRead ? WeightReading::kLater : WeightReading::kChecked);
    check_has_own_weights(archive);
    loaded.module = read_module(archive);
    move_to_cpu(loaded.module);
    drop_repeated_arguments(loaded.module);
    take_newer_operators_apart(loaded.module);
    check_constant_arguments(loaded.module);
    keep_neutral_arithmetic(loaded.module);
    loaded.bundled_inputs = read_bundled_inputs(loaded.module);
    loaded.traced_inputs = read_traced_inputs(archive);
    loaded.extra_files = read_extra_files(archive);
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    std::string missing = missing_operator(error.what(), format);
    if (missing.empty()) missing = missing_class(error.what());
    if (!missing.empty()) fail(path, missing);
    fail(path, read_problem(error));
  }
  if (loaded.module.get_methods().empty()) fail(path, "the module has no method");
  check_no_other_backend(loaded.module, path);
  leave_training_mode(loaded.module, diagnostics);
  if (is_dynamically_quantised(loaded.module)) warn_of_dynamic_quantisation(diagnostics);
  if (has_quantised_tables(loaded.module)) warn_of_quantised_tables(diagnostics);
  loaded.read_elsewhere = attributes_read_beside(loaded.module, "forward");
  return loaded;
}

}  // namespace nnapi_convert
