// SPDX-License-Identifier: BSD-3-Clause
// Holds one model: its options, the shapes that it ran with, its compiled forms and its measurements.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "lib/shim/archive.h"
#include "lib/shim/device_search.h"
#include "lib/shim/model_buffer.h"
#include "lib/shim/open_model.h"
#include "lib/shim/shape_cache.h"

namespace nnapi_shim {

// Fails with the message that options without a cache directory leave no place for verdicts.
int fail_no_cache(nnapi_shim_error* error);

// The model of one buffer.
class Model final : public OpenModel {
 public:
  // `weights` have to outlive the model. Those of `archive` do, as the model keeps the archive. The model is one of
  // `variants` models of a package.
  Model(std::unique_ptr<const ModelBuffer> buffer, const Weights& weights,
        std::shared_ptr<const Archive> archive = nullptr, size_t variants = 1);

  const ModelBuffer& buffer() const { return *buffer_; }
  uint32_t argument_count() const override { return buffer_->argument_count(); }
  std::vector<int64_t> argument_sizes(uint32_t argument) const override { return buffer_->argument_sizes(argument); }
  const std::vector<int32_t>& input_arguments() const override { return buffer_->input_arguments(); }
  uint32_t output_count() const override { return buffer_->output_count(); }
  uint32_t feature_level() const override { return buffer_->feature_level(); }
  int configure(const Options& options, nnapi_shim_error* error) override;
  int describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) override;
  int warm_up(const CallShapes& shapes, nnapi_shim_error* error) override;
  int run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) override;
  int visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit, void* user,
                       nnapi_shim_error* error) override;
  int load_library(const NnapiLibrary** library, nnapi_shim_error* error) override;
  int try_devices(nnapi_shim_error* error) override;
  void get_profile(nnapi_shim_profile* profile) override;
  void last_failure(nnapi_shim_error* error) override;
  void choice(char* text, size_t bytes) override;

  // Sets `share` to the largest share of the operations that one device supports, among the devices that the options
  // allow, without NNAPI's own CPU; to 1 below feature level 3, where NNAPI can't tell.
  int supported_share(const CallShapes& shapes, double* share, nnapi_shim_error* error);
  // Returns whether the model is compiled for NNAPI's own CPU because no other device could be trusted.
  bool is_on_reference(const CallShapes& shapes);
  // Frees the compiled models, and NNAPI's hold on the weights. No call may be running. A later call compiles again.
  void stop();

 private:
  static constexpr uint32_t kGuardedRuns = 8;  // the number of first runs after compiling that the journal guards

  int build_for_questions(const CallShapes& shapes, ModelView* view, std::unique_ptr<BuiltModel>* built,
                          nnapi_shim_error* error);
  int run_trial_once(const Sample& sample, nnapi_shim_error* error);
  int bind(const CallShapes& shapes, ShapeEntry* entry, ModelView* view, nnapi_shim_error* error) const;
  int get_compiled(const CallShapes& shapes, std::shared_ptr<ShapeEntry>* entry, nnapi_shim_error* error);
  int compile(const CallShapes& shapes, ShapeEntry* entry, nnapi_shim_error* error);
  std::shared_ptr<const WeightMemory> weight_memory(bool copies);
  int compile_unchecked(const ModelView& view, bool is_cached, ShapeEntry* entry, nnapi_shim_error* error);
  int compile_checked(const ModelView& view, const CallShapes& shapes, bool is_cached, ShapeEntry* entry,
                      nnapi_shim_error* error);
  bool is_checked() const { return buffer_->sample_count() > 0 && !options_.no_self_check; }
  int run_on_one(const CallShapes& shapes, const RunBuffers& buffers, bool* may_try_another, nnapi_shim_error* error);
  int run_guarded(ShapeEntry& entry, const RunBuffers& buffers, DeviceTimes* times, nnapi_shim_error* error);
  bool drop_failed(ShapeEntry& entry, const nnapi_shim_error& failure);
  int start(nnapi_shim_error* error);
  void digest_weights();
  void remember(const nnapi_shim_error& failure);
  void note_forbidden(const std::string& forbidden);

  const std::unique_ptr<const ModelBuffer> buffer_;
  const std::shared_ptr<const Archive> archive_;
  const Weights weights_;
  const size_t variants_;
  Options options_;  // do not change after start()
  ShapeCache shapes_;

  std::mutex mutex_;  // guards `options_` before the start, and the members from here to `devices_`
  bool is_started_ = false;
  const NnapiLibrary* library_ = nullptr;
  WeightWays weight_ways_;
  bool copies_weights_ = false;  // true after a device failed with the file
  bool has_digest_ = false;
  uint8_t weights_digest_[Sha256::kDigestBytes];
  nnapi_shim_error last_failure_{};
  Verdicts verdicts_;
  uint64_t build_ns_ = 0, compile_ns_ = 0, check_ns_ = 0;
  uint32_t compiled_count_ = 0, checked_samples_ = 0;
  bool weights_are_mapped_ = false;
  std::string devices_;

  std::atomic<uint64_t> executions_{0}, last_execute_ns_{0}, total_execute_ns_{0};
  std::atomic<uint64_t> last_on_device_ns_{0}, last_in_driver_ns_{0};
};

}  // namespace nnapi_shim
