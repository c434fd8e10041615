// SPDX-License-Identifier: BSD-3-Clause
// Reads a TorchScript file or an exported program: the module and the inputs bundled with it.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/base/folder.h"
#include "lib/base/source_check.h"
#include "lib/converter/graph/attribute_path.h"
#include "lib/converter/graph/float_width.h"
#include "lib/converter/load/load_exported.h"

namespace nnapi_convert {

// One tuple of arguments for forward.
using InputTuple = std::vector<c10::IValue>;

// Arguments of forward, and parts of them, that have the same value in all calls, by name.
using BoundValues = std::map<std::string, c10::IValue>;

struct LoadedModel {
  std::string path;
  torch::jit::Module module;  // in evaluation mode
  std::vector<InputTuple> bundled_inputs;
  InputTuple traced_inputs = {};  // traced_inputs.h
  BoundValues bound = {};
  std::vector<AttributePath> changed_elsewhere = {};  // attributes that other methods change (method_view.h)
  std::set<AttributePath> read_elsewhere = {};        // attributes that other methods read
  std::vector<AttributePath> unsettled = {};          // attributes among them whose sizes or dtypes may change
  std::vector<ExportedTensor> stated = {};            // of an exported program: the tensors that forward takes
  std::vector<std::string> guards = {};               // of an exported program (frontend/export_guards.h)
  std::vector<ExportedNumber> numbers = {};           // of an exported program: the integers that forward takes
  std::vector<FixedValue> fixed = {};                 // of an exported program: what torch.export fixed
  std::vector<FolderFile> extra_files = {};           // of the archive, by their names (_extra_files)
  StatedFloats stated_floats = {};                    // of arguments of forward
  std::shared_ptr<SourceChecks> checks = {};          // of the weights, with WeightChecks::kAsRead

  // Returns arguments of the sizes and dtypes that the file is for; null if it doesn't say.
  const InputTuple* example() const {
    if (!bundled_inputs.empty()) return &bundled_inputs[0];
    return traced_inputs.empty() ? nullptr : &traced_inputs;
  }
};

enum class WeightChecks {
  kAtOnce,  // load_model() reads all weights for their checksums
  kAsRead,  // who reads a weight to write it checks it, and the caller calls checks->finish() before it uses the result
};

// Reads what torch.jit.save wrote, a .ptl that still holds its code, or what torch.export.save wrote (.pt2). Warns for
// a model saved in training mode. The model may have no forward. Throws ConvertError (kBadFile) for a file that can't
// be read or is of another kind.
LoadedModel load_model(const std::string& path, Diagnostics& diagnostics, WeightChecks checks = WeightChecks::kAtOnce);

// Returns a floating-point dtype as it is, and Undefined for any other.
at::ScalarType float_dtype_of(at::ScalarType dtype);
// Returns what the tensors among the arguments state, as LoadedModel has it.
StatedFloats stated_floats_of(const InputTuple& arguments);

// Returns the floating-point dtype that the model computes in, if it isn't float32 and is one: that of its weights, or
// of its arguments where it has no floating-point weights.
std::optional<at::ScalarType> width_of(const LoadedModel& loaded);

// Throws ConvertError (kBadFile) unless the file exists, can be read and begins like a zip archive.
void check_is_archive(const std::string& path);

// Returns the text of a c10::Error or other exception without its backtrace, on one line.
std::string first_line(const std::exception& error);

}  // namespace nnapi_convert
