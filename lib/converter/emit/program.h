// SPDX-License-Identifier: BSD-3-Clause
// Makes the program of a module: what TorchScript runs of it, for runtimes without PyTorch
// (lib/format/program_format.h).
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/diagnostics.h"
#include "lib/serialize/module_interface.h"
#include "lib/serialize/program_writer.h"

namespace nnapi_convert {

// A method that no program can say and that the file can do without, with the first reason.
struct LeftOutMethod {
  std::string name;
  Refusal reason;
};

// Returns the graph of a segment on the CPU: from the segment's arguments to a tuple of NNAPI's outputs, in NNAPI's own
// form if they are raw, else in PyTorch's. Throws std::invalid_argument with the reason if there is none.
using SegmentOnCpu = std::function<std::shared_ptr<torch::jit::Graph>(bool is_raw)>;

struct ProgramResult {
  std::optional<Program> program;
  std::vector<Refusal> refusals;  // why there is no program: what none can say of methods that it needs
  std::vector<LeftOutMethod> left_out;
  std::vector<Refusal> raised;      // what no program can say in branches: it raises an error there
  std::vector<Refusal> only_nnapi;  // why segments can't be computed on the CPU; `op` is the segment
};

struct ProgramRequest {
  struct Method {
    std::string name;
    std::vector<Quantization> outputs = {};  // NNAPI's outputs, if NNAPI runs the method whole
  };
  torch::jit::Module module;
  std::vector<Method> methods = {{"forward"}};  // methods that the program needs
  std::vector<std::string> kept = {};           // methods that may be left out
  std::vector<SegmentOnCpu> on_cpu = {};        // one for each segment; or none at all
  bool keeps_places = true;                     // the program tells the model's lines
};

// Makes the program of the module's methods, whose graphs are inlined. Attributes that they read are its state. The
// module, or a module in it, whose attribute `comp` is a compilation of the shim is a segment; segments have numbers in
// the order of attributes, as in the archive's index.
ProgramResult make_program(const ProgramRequest& request);

// Says what a file needs if it has no program.
struct ProgramNeed {
  bool is_wired = false;          // the file runs without PyTorch and without a program, too
  bool may_need_pytorch = false;  // a file that needs PyTorch is wanted all the same
};

// Throws ConvertError (kNotConvertible) with what would make the file need PyTorch; warns of it where that is wanted.
void refuse_or_warn(const std::vector<Refusal>& refusals, const ProgramNeed& need, Diagnostics& diagnostics);

// Returns the program, or null where the file does without one. Throws as refuse_or_warn() does.
std::shared_ptr<const Program> program_of(const ProgramRequest& request, const ProgramNeed& need,
                                          Diagnostics& diagnostics);

// Returns the quantisation of each of NNAPI's outputs in a model that NNAPI runs whole. Nothing if it takes quantised
// tensors, which programs lack.
std::optional<std::vector<Quantization>> outputs_of_whole(const nnapi::Model& model, const ModuleInterface& interface);

// Makes the program of a model that NNAPI runs whole: it gives arguments and results the names and forms that forward
// has. `module` is the shim's, of this model and interface. Null if forward takes or gives quantised tensors, which
// programs lack. `keeps_places`: the program tells the model's lines. Throws as refuse_or_warn() does.
std::shared_ptr<const Program> program_of_whole(const torch::jit::Module& module, const nnapi::Model& model,
                                                const ModuleInterface& interface,
                                                const std::vector<SegmentOnCpu>& on_cpu, bool keeps_places,
                                                const ProgramNeed& need, Diagnostics& diagnostics);

// Warns of the segments that only NNAPI can run.
void warn_of_only_nnapi(const ProgramResult& result, Diagnostics& diagnostics);

}  // namespace nnapi_convert
