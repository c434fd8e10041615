// SPDX-License-Identifier: BSD-3-Clause
// Finds a device that can be trusted with a model: compiles the model for one choice of devices after the other, runs
// the file's samples there, and remembers the verdicts.
//
// A device that gave wrong results, refused, died or hung with this version of its driver is not tried again. Once a
// device has died or hung, this process tries only devices that are known to be good, and NNAPI's own CPU.
//
// A device that fails with weights by file descriptor gets them once more as a copy, before it is condemned: Android's
// rules keep drivers from mapping an app's files on some versions and in some places.
#pragma once

#include <memory>

#include "lib/shim/compilation.h"
#include "lib/shim/journal.h"
#include "lib/shim/model_buffer.h"
#include "lib/shim/tensors.h"
#include "lib/shim/verdicts.h"

namespace nnapi_shim {

// Returns the verdict that follows from a failure; kUnknown if another time may end better.
Verdict verdict_of(const nnapi_shim_error& failure);

// Turns the message of a failure with weights by file descriptor into the sentence that the device gets a copy.
void note_copies(const std::string& devices, nnapi_shim_error* error);

// The model as a search needs it. All parts have to outlive the search; `library`, `options` and `verdicts` also the
// compiled model that it finds.
struct SearchedModel {
  const NnapiLibrary& library;
  const Options& options;
  const ModelBuffer& buffer;
  const WeightWays& weights;
  const uint8_t* weights_digest;  // null: compiled models are not cached
  Verdicts& verdicts;
};

struct Trusted {
  std::shared_ptr<CompiledModel> compiled;
  DeviceChoice choice;
  std::unique_ptr<Journal> journal;  // for the first runs; may be null
  uint64_t check_ns = 0;             // the time that the samples took
  uint32_t checked_samples = 0;
};

class DeviceSearch {
 public:
  explicit DeviceSearch(const SearchedModel& model) : model_(model) {}

  // Compiles the model, bound to the shapes of the arguments in `view`. If no device can be trusted, returns the first
  // device's failure.
  int find(const ModelView& view, const CallShapes& shapes, Trusted* found, nnapi_shim_error* error);

 private:
  struct Request {
    const ModelView& view;
    const CallShapes& shapes;
  };
  struct Way {
    bool copies;     // NNAPI gets a copy of the weights, not their file
    bool is_cached;  // the device may load an earlier compilation from its cache
  };
  bool is_allowed(const DeviceChoice& choice, Verdict verdict, bool is_fatal, const std::string& reason,
                  nnapi_shim_error* error) const;
  int try_choice(const Request& request, const DeviceChoice& choice, Verdict before, Trusted* found,
                 nnapi_shim_error* error);
  int try_with_cache(const Request& request, const DeviceChoice& choice, Verdict before, bool copies, Trusted* found,
                     Verdict* verdict, nnapi_shim_error* error);
  int compile_and_check(const Request& request, const DeviceChoice& choice, Verdict before, const Way& way,
                        Trusted* found, nnapi_shim_error* error);
  int check(const Request& request, const DeviceChoice& choice, Verdict before, bool copies, Trusted* found,
            nnapi_shim_error* error);
  std::shared_ptr<CompiledModel> compile(const ModelView& view, const DeviceChoice& choice, const Way& way, int* status,
                                         nnapi_shim_error* error) const;
  bool is_forbidden(const ModelView& view, const DeviceChoice& choice) const;
  int run_sample(const Sample& sample, CompiledModel& compiled, nnapi_shim_error* error) const;

  const SearchedModel& model_;
};

}  // namespace nnapi_shim
