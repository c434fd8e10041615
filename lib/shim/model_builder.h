// SPDX-License-Identifier: BSD-3-Clause
// Builds NNAPI's models from a bound model.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "lib/shim/large_memory.h"
#include "lib/shim/model_view.h"
#include "lib/shim/nnapi_library.h"

namespace nnapi_shim {

// The weights in the form that NNAPI's functions take. All models built from the weights share this object, and it
// lives as long as any of them.
class WeightMemory {
 public:
  // Hands the file to NNAPI if the weights have one, unless `copies` is true. If NNAPI does not get or take the file,
  // the builder sets the values by pointer, and NNAPI copies them into memory that its drivers can map. The memory of
  // `weights` has to outlive this object.
  WeightMemory(const NnapiLibrary& library, const Weights& weights, bool copies = false);
  ~WeightMemory();
  WeightMemory(const WeightMemory&) = delete;
  WeightMemory& operator=(const WeightMemory&) = delete;

  const Weights& weights() const { return weights_; }
  // Returns NNAPI's memory, or null: then the builder sets values by pointer.
  const ANeuralNetworksMemory* memory() const { return memory_; }
  bool copies() const { return copies_; }
  // Returns the value of an operand, of float16 or int8 weights, as float32. It is converted at the first call and
  // lives as long as this object. Any thread may call this.
  const float* floats_of(const ValueView& value, const OperandView& operand) const;

 private:
  const NnapiLibrary& library_;
  Weights weights_;
  const bool copies_;
  mutable std::mutex mutex_;
  struct Floats {
    uint64_t offset, length;
    std::vector<float> scales;  // for int8 weights, as other weights may have the same integers
    const float* values;
  };
  mutable std::vector<Floats> floats_;
  mutable LargeMemory memory_of_floats_;
  ANeuralNetworksMemory* memory_ = nullptr;
};

// The two ways to hand over the same weights. A driver that must not map an app's file may refuse the model, or compute
// with zeros.
struct WeightWays {
  std::shared_ptr<const WeightMemory> mapped;  // by the file, as far as NNAPI takes it
  std::shared_ptr<const WeightMemory> copied;  // null if `mapped` is a copy, too

  const std::shared_ptr<const WeightMemory>& get(bool copies) const { return copies && copied ? copied : mapped; }
};
WeightWays make_weight_ways(const NnapiLibrary& library, const Weights& weights);

// Finished models: the main one and the subgraphs that it refers to.
class BuiltModel {
 public:
  BuiltModel(const NnapiLibrary& library, std::shared_ptr<const WeightMemory> weights)
      : library_(library), weights_(std::move(weights)) {}
  ~BuiltModel();
  BuiltModel(const BuiltModel&) = delete;
  BuiltModel& operator=(const BuiltModel&) = delete;

  // Builds all models of `view`; call it once. Keeps the view's words, to which NNAPI holds pointers, but not the view.
  // NNAPI_SHIM_REFUSED if NNAPI refuses a part of a model; NNAPI_SHIM_TOO_OLD if NNAPI lacks a function that the model
  // needs.
  int build(const ModelView& view, nnapi_shim_error* error);

  ANeuralNetworksModel* main() const { return models_.empty() ? nullptr : models_[0]; }
  const WeightMemory& weights() const { return *weights_; }

 private:
  int build_one(const ModelView& view, size_t number, nnapi_shim_error* error);

  const NnapiLibrary& library_;
  std::shared_ptr<const WeightMemory> weights_;
  std::shared_ptr<const std::vector<int32_t>> words_;
  std::vector<ANeuralNetworksModel*> models_;
};

}  // namespace nnapi_shim
