// An open file as the C interface sees it: one segment, or several that run one after the other, of which none is the
// CPU's. What a segment makes, later segments read from memory between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/shim/archive_index.h"
#include "lib/shim/package.h"

namespace nnapi_shim {

// The tensors of a call, as callers see them.
struct CallTensors {
  std::vector<nnapi_shim_tensor> inputs, outputs;
};

// Several threads may call all functions at once. The functions are Package's, over all segments; see there.
class Chain {
 public:
  using Segments = std::vector<std::unique_ptr<Package>>;

  // Makes the segments of an archive and checks that its wiring fits them; the models keep the archive. Returns
  // NNAPI_SHIM_OK or NNAPI_SHIM_BAD_MODEL.
  static int read(const std::shared_ptr<const Archive>& archive, Segments* segments, nnapi_shim_error* error);
  // One segment needs no wiring.
  explicit Chain(Segments segments, Wiring wiring = {});

  int configure(const nnapi_shim_options* options, nnapi_shim_error* error);
  uint32_t argument_count() const;
  uint32_t input_count() const;
  uint32_t output_count() const;
  uint32_t feature_level() const;
  std::vector<int64_t> argument_sizes(uint32_t argument) const;
  int describe(const nnapi_shim_shape* arguments, uint32_t argument_count, CallTensors* tensors,
               nnapi_shim_error* error);
  // The same for one tensor, without a copy of the others.
  int describe_one(const nnapi_shim_shape* arguments, uint32_t argument_count, bool is_output, uint32_t index,
                   nnapi_shim_tensor* tensor, nnapi_shim_error* error);
  int warm_up(const nnapi_shim_shape* arguments, uint32_t argument_count, nnapi_shim_error* error);
  int run(const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
          nnapi_shim_error* error);
  int visit_operations(const nnapi_shim_shape* arguments, uint32_t argument_count, const char* device,
                       nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error);
  int load_library(const NnapiLibrary** library, nnapi_shim_error* error);
  int try_devices(nnapi_shim_error* error);
  void get_profile(nnapi_shim_profile* profile);
  void last_failure(nnapi_shim_error* error);
  void choice(char* text, size_t bytes);

 private:
  // A segment for the shapes of a call.
  struct BoundSegment {
    std::vector<std::vector<int64_t>> sizes;  // of its arguments
    std::vector<nnapi_shim_shape> shapes;     // pointers into `sizes`
    std::shared_ptr<ShapeEntry> entry;
  };
  struct Call;

  bool is_one() const { return segments_.size() == 1; }
  int bind(const nnapi_shim_shape* arguments, uint32_t argument_count, std::vector<BoundSegment>* bound,
           nnapi_shim_error* error);
  int bind_segment(const nnapi_shim_shape* arguments, size_t number, std::vector<BoundSegment>* bound,
                   nnapi_shim_error* error);
  int list_tensors(const std::vector<BoundSegment>& bound, CallTensors* tensors, nnapi_shim_error* error) const;
  int run_segment(Call& call, size_t number, nnapi_shim_error* error);

  const Segments segments_;
  const Wiring wiring_;
  std::vector<uint32_t> inputs_;  // the arguments of forward that segments read, each once
};

}  // namespace nnapi_shim
