// The models of an open file: one, or those of a package, of which the first that suits this phone is used.
//
// For the shapes of a call, the models that take them are ordered by the share of their operations that one device
// supports, and, where that is equal, as in the package. The first that compiles and passes the check of its samples on
// another device than NNAPI's own CPU is kept; what was compiled of the others before is freed. With the option
// measure_models all of them run, and the fastest is kept. Callers see the same inputs and outputs whichever model
// runs: where one model has floats and another 8-bit integers, they are floats, and float_boundary.h converts.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/shim/archive.h"
#include "lib/shim/float_boundary.h"
#include "lib/shim/model.h"

namespace nnapi_shim {

struct PackagedModel {
  std::string name;  // empty in a file of one model
  std::unique_ptr<Model> model;
};

// Several threads may call all functions at once. Most are Model's; see there.
class Package {
 public:
  // Makes the models of the words, of one buffer or of a package. `weights` have to outlive them; those of `archive`
  // do, as the models keep it. Returns NNAPI_SHIM_OK or NNAPI_SHIM_BAD_MODEL.
  static int read(const void* words, size_t word_count, const Weights& weights,
                  const std::shared_ptr<const Archive>& archive, std::vector<PackagedModel>* models,
                  nnapi_shim_error* error);
  explicit Package(std::vector<PackagedModel> models);

  int configure(const nnapi_shim_options* options, nnapi_shim_error* error);
  const ModelBuffer& buffer() const { return models_[0].model->buffer(); }
  uint32_t feature_level() const;  // the lowest that one of the models runs on
  // The sizes of an argument; 0 also where the models differ.
  std::vector<int64_t> argument_sizes(uint32_t argument) const;

  int describe(const nnapi_shim_shape* arguments, uint32_t argument_count, std::shared_ptr<ShapeEntry>* entry,
               nnapi_shim_error* error);
  int warm_up(const nnapi_shim_shape* arguments, uint32_t argument_count, nnapi_shim_error* error);
  int run(const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
          nnapi_shim_error* error);
  int visit_operations(const nnapi_shim_shape* arguments, uint32_t argument_count, const char* device,
                       nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error);
  // Loads NNAPI, and gives its library.
  int load_library(const NnapiLibrary** library, nnapi_shim_error* error);
  // Tries all models that this phone's NNAPI has the level for. OK if one of them can be trusted.
  int try_devices(nnapi_shim_error* error);

  void get_profile(nnapi_shim_profile* profile);
  void last_failure(nnapi_shim_error* error);
  // Says which model was chosen last, and why not those before it; empty in a file of one model, and before a choice.
  void choice(char* text, size_t bytes);

 private:
  static constexpr size_t kNoModel = ~size_t{0};
  static constexpr size_t kTextBytes = 1024;

  using Shape = std::vector<int64_t>;  // of each argument its rank, then its sizes
  struct Pick {
    Shape shape;
    size_t number;  // of the model; kNoModel: none any more
  };
  struct Candidate {
    size_t number;
    double share;  // of its operations that one device supports
  };
  struct Measured {
    size_t number;
    uint64_t nanoseconds;
  };
  // What a search for the model of a call's shapes knows.
  struct Search {
    const nnapi_shim_shape* arguments;
    uint32_t argument_count;
    Shape shape;
    uint32_t left_out = 0;  // a bit for each model not to try
    std::vector<Candidate> candidates;
    nnapi_shim_error first{};       // failure
    char reasons[kTextBytes] = "";  // why models were not taken
  };

  int run_on(size_t number, const nnapi_shim_shape* arguments, uint32_t argument_count, const RunBuffers& buffers,
             nnapi_shim_error* error);
  bool takes(size_t number, const nnapi_shim_shape* arguments, uint32_t argument_count) const;
  bool converts(size_t number) const { return (converting_ >> number & 1) != 0; }
  size_t first_fit(const nnapi_shim_shape* arguments, uint32_t argument_count) const;
  bool find_pick(const Shape& shape, size_t* number);
  int pick(const nnapi_shim_shape* arguments, uint32_t argument_count, size_t* number, nnapi_shim_error* error);
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
  FloatBoundary boundary_;   // what callers see
  uint32_t converting_ = 0;  // a bit for each model that has integers where callers see floats
  uint32_t only_ = 0;        // the options' choice, counted from 1; 0: the package chooses
  bool measures_ = false;

  std::mutex choosing_;  // held while models are tried
  std::mutex mutex_;     // guards all below
  std::vector<Pick> picks_;
  uint32_t rejected_ = 0;  // a bit for each model that failed while others ran
  size_t newest_ = 0;
  char choice_[kTextBytes] = "";
};

}  // namespace nnapi_shim
