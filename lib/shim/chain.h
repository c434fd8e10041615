// SPDX-License-Identifier: BSD-3-Clause
// A file of several segments that run one after the other; the CPU runs none of them. Memory between them holds the
// outputs that later segments read.
#pragma once

#include <memory>
#include <vector>

#include "lib/shim/archive_index.h"
#include "lib/shim/segments.h"

namespace nnapi_shim {

// Makes the chain. Returns null, and NNAPI_SHIM_BAD_MODEL in `error`, for segments that don't fit the wiring.
std::unique_ptr<OpenModel> make_chain(Segments segments, Wiring wiring, nnapi_shim_error* error);

class Chain final : public OpenModel {
 public:
  Chain(Segments segments, Wiring wiring);

  uint32_t argument_count() const override { return wiring_.argument_count; }
  std::vector<int64_t> argument_sizes(uint32_t argument) const override;
  const std::vector<int32_t>& input_arguments() const override { return inputs_; }
  uint32_t output_count() const override { return static_cast<uint32_t>(wiring_.outputs.size()); }
  uint32_t feature_level() const override { return highest_level(segments_); }
  int configure(const Options& options, nnapi_shim_error* error) override {
    return configure_all(segments_, options, error);
  }
  int describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) override;
  int warm_up(const CallShapes& shapes, nnapi_shim_error* error) override;
  int run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) override;
  int visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit, void* user,
                       nnapi_shim_error* error) override;
  int load_library(const NnapiLibrary** library, nnapi_shim_error* error) override {
    return segments_[0]->load_library(library, error);
  }
  int try_devices(nnapi_shim_error* error) override { return try_devices_of_all(segments_, error); }
  void get_profile(nnapi_shim_profile* profile) override { sum_profiles(segments_, profile); }
  void last_failure(nnapi_shim_error* error) override { first_failure(segments_, error); }
  void choice(char* text, size_t bytes) override { segments_[0]->choice(text, bytes); }

 private:
  // A segment with the shapes of a call.
  struct BoundSegment {
    std::vector<std::vector<int64_t>> sizes;  // the sizes of its arguments
    std::vector<nnapi_shim_shape> shapes;     // pointers into `sizes`
    std::shared_ptr<const CallTensors> tensors;
  };
  struct Call;

  size_t input_of(uint32_t argument) const;
  int bind(const CallShapes& shapes, std::vector<BoundSegment>* bound, nnapi_shim_error* error);
  int list_tensors(const std::vector<BoundSegment>& bound, CallTensors* tensors, nnapi_shim_error* error) const;
  int run_segment(Call& call, size_t number, nnapi_shim_error* error);

  const Segments segments_;
  const Wiring wiring_;
  std::vector<int32_t> inputs_;  // the arguments of forward that segments read, each once
};

}  // namespace nnapi_shim
