// SPDX-License-Identifier: BSD-3-Clause
// Makes the host module of a partitioned model: it runs the CPU's operations as TorchScript and calls the segments'
// modules.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/converter/emit/kept_methods.h"
#include "lib/converter/graph/changed_attributes.h"
#include "lib/converter/plan/partition.h"
#include "lib/serialize/class_copies.h"
#include "lib/serialize/emitted_class.h"

namespace nnapi_convert {

// The place of a host among others in a file of several methods.
struct HostPlace {
  std::string suffix;                         // behind the names of its classes
  std::optional<torch::jit::Module> state;    // holds the state of all hosts; nothing: the host holds its own
  std::shared_ptr<ClassCopies> classes = {};  // of the state; nothing: the host's own
};

// Returns the class name of segment `number`.
std::string segment_class(size_t number, const std::string& suffix = "");

struct PartitionedModuleRequest {
  const NormalisedModel& model;
  const Plan& plan;
  const std::vector<torch::jit::Module>& segments;  // their classes are in `unit`
  const ModuleInterface& interface;
  const BundledInputs& bundled_inputs;
  std::shared_ptr<torch::jit::CompilationUnit> unit;
  std::vector<StateAttribute> state;
  std::vector<KeptMethod> methods;
  HostPlace place = {};
};

// Replaces the original's classes, and constants that are objects of these classes, by their copies.
void use_copies(torch::jit::Graph& graph, ClassCopies& classes);

// Makes the host module. Its forward takes the original's arguments, and checks their structure and sizes, as sizes
// that the model computes from them are constants.
torch::jit::Module build_partitioned_module(const PartitionedModuleRequest& request);

}  // namespace nnapi_convert
