// SPDX-License-Identifier: BSD-3-Clause
// A package: a file of several models, of which the first that suits this phone is used.
//
// For the shapes of a call, the models that take them are ordered by the share of their operations that one device
// supports; models with equal shares are ordered as in the package. The first that compiles and passes the check of its
// samples on another device than NNAPI's own CPU is kept; earlier compilations of other models are freed. With the
// option measure_models all of them run, and the fastest is kept. Callers see the same inputs and outputs whichever
// model runs: a tensor that is floats in one model and 8-bit integers in another is floats for callers, and
// float_boundary.h converts.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/shim/archive.h"
#include "lib/shim/float_boundary.h"
#include "lib/shim/model.h"

namespace nnapi_shim {

// Makes the model of the words, which are one buffer or a package. `weights` have to outlive it; those of `archive` do,
// as the model keeps the archive. Returns null, and NNAPI_SHIM_BAD_MODEL in `error`, for damaged words.
std::unique_ptr<OpenModel> open_words(const void* words, size_t word_count, const Weights& weights,
                                      const std::shared_ptr<const Archive>& archive, nnapi_shim_error* error);

struct PackagedModel {
  std::string name;
  std::unique_ptr<Model> model;
};

class Package final : public OpenModel {
 public:
  // All models have the same number of arguments, inputs and outputs.
  explicit Package(std::vector<PackagedModel> models);

  uint32_t argument_count() const override { return models_[0].model->argument_count(); }
  std::vector<int64_t> argument_sizes(uint32_t argument) const override;  // also 0 for sizes in which the models differ
  const std::vector<int32_t>& input_arguments() const override { return models_[0].model->input_arguments(); }
  uint32_t output_count() const override { return models_[0].model->output_count(); }
  uint32_t feature_level() const override;  // the lowest level that runs one of the models
  int configure(const Options& options, nnapi_shim_error* error) override;
  int describe(const CallShapes& shapes, std::shared_ptr<const CallTensors>* tensors, nnapi_shim_error* error) override;
  int warm_up(const CallShapes& shapes, nnapi_shim_error* error) override;
  int run(const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error) override;
  int visit_operations(const CallShapes& shapes, const char* device, nnapi_shim_operation_visitor visit, void* user,
                       nnapi_shim_error* error) override;
  int load_library(const NnapiLibrary** library, nnapi_shim_error* error) override;
  // Tries all models for which this phone's NNAPI has the level. Returns NNAPI_SHIM_OK if one of them can be trusted.
  int try_devices(nnapi_shim_error* error) override;
  void get_profile(nnapi_shim_profile* profile) override { newest().get_profile(profile); }
  void last_failure(nnapi_shim_error* error) override { newest().last_failure(error); }
  void choice(char* text, size_t bytes) override;

 private:
  static constexpr size_t kNoModel = ~size_t{0};
  static constexpr size_t kTextBytes = 1024;

  using Shape = std::vector<int64_t>;  // CallShapes::key()
  struct Pick {
    Shape shape;
    size_t number;  // of the model; kNoModel: no longer valid
  };
  struct Candidate {
    size_t number;
    double share;  // the share of its operations that one device supports
  };
  struct Measured {
    size_t number;
    uint64_t nanoseconds;
  };
  // The state of a search for the model for a call's shapes.
  struct Search {
    const CallShapes& shapes;
    Shape shape;
    uint32_t left_out;  // a bit for each model that is not to be tried
    std::vector<Candidate> candidates = {};
    nnapi_shim_error first{};       // the first failure
    char reasons[kTextBytes] = "";  // why models were not taken
  };

  Model& newest();
  Search search_for(const CallShapes& shapes);
  int run_on(size_t number, const CallShapes& shapes, const RunBuffers& buffers, nnapi_shim_error* error);
  bool takes(size_t number, const CallShapes& shapes) const;
  bool converts(size_t number) const { return (converting_ >> number & 1) != 0; }
  size_t first_fit(const CallShapes& shapes) const;
  bool find_pick(const Shape& shape, size_t* number);
  int pick(const CallShapes& shapes, size_t* number, nnapi_shim_error* error);
  int choose(Search& search, size_t* number, nnapi_shim_error* error);
  void list_candidates(Search& search);
  int try_candidate(Search& search, const Candidate& candidate, bool* is_found, nnapi_shim_error* failure);
  uint64_t measure(const Search& search, size_t number);
  bool is_picked(size_t number);
  size_t fastest(Search& search, const std::vector<Measured>& measured);
  int check_interface(const Search& search, size_t number, nnapi_shim_error* error);
  void keep(Search& search, size_t number);
  void note(Search& search, size_t number, const nnapi_shim_error& failure) const;

  const std::vector<PackagedModel> models_;
  FloatBoundary boundary_;   // the tensors that callers see as floats
  uint32_t converting_ = 0;  // a bit for each model with integers for tensors that callers see as floats
  uint32_t only_ = 0;        // the options' choice, counted from 1; 0: the package chooses
  bool measures_ = false;

  std::mutex choosing_;  // held while models are tried
  std::mutex mutex_;     // guards all members below
  std::vector<Pick> picks_;
  uint32_t rejected_ = 0;  // a bit for each model that failed while others ran
  size_t newest_ = 0;
  char choice_[kTextBytes] = "";
};

}  // namespace nnapi_shim
