// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/load/load_exported.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/begins_with.h"
#include "lib/base/damaged_file.h"
#include "lib/base/error.h"
#include "lib/base/json_problem.h"
#include "lib/base/out_of_memory.h"
#include "lib/converter/graph/torch_error.h"
#include "lib/converter/load/affine_nodes.h"
#include "lib/converter/load/export_archive.h"
#include "lib/converter/load/export_json.h"
#include "lib/converter/load/export_module.h"
#include "lib/converter/load/export_signature.h"
#include "lib/converter/load/older_schema.h"
#include "lib/converter/load/tensor_meta.h"

namespace nnapi_convert {
namespace {

using nlohmann::json;

ExportedTensor::Size size_of(const ExportedSize& size, const json& program) {
  constexpr int64_t kUsualExample = 2;
  ExportedTensor::Size result;
  result.number = size.number;
  if (size.number) {
    result.example = *size.number;
    return result;
  }
  result.expression = read_size_expression(size.expression);
  const json* constraints = find_member(program, "range_constraints");
  const json* range = constraints == nullptr || !result.expression
                          ? nullptr
                          : find_member(*constraints, result.expression->symbol.c_str());
  if (range != nullptr) {
    const json *min = find_member(*range, "min_val"), *max = find_member(*range, "max_val");
    if (min != nullptr && min->is_number_integer())
      result.min = size_for(*result.expression, integer_of(*min)).value_or(0);
    if (max != nullptr && max->is_number_integer()) result.max = size_for(*result.expression, integer_of(*max));
  }
  result.example = size.hint.value_or(std::max(result.min, kUsualExample));
  return result;
}

std::vector<ExportedTensor> tensors_of(const ExportModule& built, const json& program) {
  const json& values = member(member(member(program, "graph_module"), "graph"), "tensor_values");
  std::vector<ExportedTensor> tensors;
  for (size_t i = 0; i < built.tensor_values.size(); ++i) {
    const std::string& name = built.tensor_values[i];
    const TensorMeta meta = read_tensor_meta(member(values, name.c_str()), name);
    ExportedTensor tensor{built.tensor_paths[i], meta.dtype, {}};
    for (const ExportedSize& size : meta.sizes) tensor.sizes.push_back(size_of(size, program));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<ExportedNumber> stated_numbers(const ExportModule& built, const json& program) {
  const json& graph = member(member(program, "graph_module"), "graph");
  const json* values = find_member(graph, "sym_int_values");
  std::vector<ExportedNumber> numbers;
  for (size_t i = 0; i < built.number_values.size(); ++i) {
    const json* value = values == nullptr ? nullptr : find_member(*values, built.number_values[i].c_str());
    if (value != nullptr) numbers.push_back({built.number_paths[i], size_of(read_size(*value), program)});
  }
  return numbers;
}

// Returns the program's guards on sizes, which files of PyTorch 2.10 and later have.
std::vector<std::string> guards_of(const json& program) {
  const json* guards = find_member(program, "guards_code");
  std::vector<std::string> result;
  if (guards == nullptr || !guards->is_array()) return result;
  for (const json& guard : *guards) {
    if (guard.is_string()) result.push_back(guard.get<std::string>());
  }
  return result;
}

// Returns forward's arguments from a tuple of the arguments by position and a dict of those by keyword.
std::vector<c10::IValue> sample_arguments(const ExportModule& built, const ExportSignature& signature,
                                          const c10::IValue& sample) {
  if (!sample.isTuple() || sample.toTupleRef().elements().size() != 2) return {};
  const auto& parts = sample.toTupleRef().elements();
  if (!parts[0].isTuple() || !parts[1].isGenericDict()) return {};
  std::vector<c10::IValue> values = parts[0].toTupleRef().elements().vec();
  const auto& by_keyword = parts[1].toGenericDict();
  for (const std::string& key : signature.arguments.elements[1].keys) {
    if (by_keyword.contains(key)) values.push_back(by_keyword.at(key));
  }
  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < built.arguments.size(); ++i) {
    if (i >= values.size()) fail_export("a sample input without one of the arguments found");
    arguments.push_back(sample_of(built.arguments[i], built.forward.arguments()[i + 1].type(), values[i]));
  }
  return arguments;
}

void add_samples(ExportedModel& model, const ExportModule& built, const ExportSignature& signature,
                 const ExportArchive& archive, Diagnostics& diagnostics) {
  std::string problem = archive.problem_of_samples;
  try {
    if (archive.samples) model.samples = {sample_arguments(built, signature, *archive.samples)};
  } catch (const ConvertError& error) {
    problem = error.what();
  }
  if (!model.samples.empty() && model.samples[0].empty()) model.samples.clear();
  if (!problem.empty()) diagnostics.warn(fmt::format("the sample inputs in the file are left out: {}", problem));
}

ExportedModel read(const std::string& path, Diagnostics& diagnostics, bool checks_weights) {
  ExportArchive archive = read_export_archive(path);
  if (checks_weights) archive.checks->finish();
  modernise_program(archive.program);
  rename_affine_nodes(archive.program);
  const ExportSignature signature = read_signature(member(archive.program, "graph_module"));
  const ExportModule built = build_module(archive, signature, diagnostics);
  ExportedModel model{built.module,
                      {},
                      tensors_of(built, archive.program),
                      stated_numbers(built, archive.program),
                      guards_of(archive.program),
                      built.fixed,
                      built.is_dynamically_quantised,
                      std::move(archive.extra_files),
                      std::move(archive.checks)};
  add_samples(model, built, signature, archive, diagnostics);
  return model;
}

}  // namespace

const ExportedTensor* find_tensor(const std::vector<ExportedTensor>& stated, const std::string& path) {
  const auto found =
      std::find_if(stated.begin(), stated.end(), [&](const ExportedTensor& each) { return each.path == path; });
  return found == stated.end() ? nullptr : &*found;
}

ExportedModel load_exported(const std::string& path, Diagnostics& diagnostics, bool checks_weights) {
  try {
    return read(path, diagnostics, checks_weights);
  } catch (const ConvertError& error) {
    const std::string message = error.what(), prefix = "can't read " + path;
    if (begins_with(message, prefix)) throw;
    if (error.exit_code() != ExitCode::kBadFile) {
      throw ConvertError(error.exit_code(), fmt::format("can't convert {}: {}", path, message));
    }
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: the exported program {}", prefix, damage_or_limit(error)));
  } catch (const json::exception& error) {
    throw ConvertError(ExitCode::kBadFile,
                       fmt::format("can't read {}: the exported program is not read: {}", path, json_problem(error)));
  } catch (const std::exception& error) {
    rethrow_if_memory_is_full(error);
    throw ConvertError(
        ExitCode::kBadFile,
        fmt::format("can't read {}: the exported program is not read: PyTorch says: {}", path, torch_reason(error)));
  }
}

}  // namespace nnapi_convert
