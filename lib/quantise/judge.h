// SPDX-License-Identifier: BSD-3-Clause
// Judges integer forms by the samples held back, which have no part in the choice between ways.
#pragma once

#include <string>
#include <vector>

#include "lib/nnapi/integer_forms.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/options.h"
#include "lib/quantise/slices.h"

namespace nnapi_convert::quantise {

class Judge {
 public:
  Judge(const nnapi::Model& model, const Samples& samples, const Options& options);

  const std::vector<const KeptSample*>& samples() const { return judging_; }
  // Takes the float model's results on samples(). Throws ConvertError if these can't prove options.target.
  void expect(Results expected);
  Judgement judgement(const Results& found) const;
  // True if the results keep to options.target.
  bool holds(const Results& found) const { return quantise::holds(options_.target, judgement(found)); }

  // Returns warnings of slices of the results that lose their values, with advice how they keep them. `uneven` are the
  // model's uneven_joints().
  std::vector<std::string> slice_warnings(const Results& found, const Assignment& assignment,
                                          const std::vector<double>& uneven) const;

 private:
  std::string mending_of(const Cut& cut, const Assignment& assignment, const std::vector<double>& uneven) const;

  const nnapi::Model& model_;
  const Samples& samples_;
  const Options& options_;
  std::vector<const KeptSample*> judging_;
  Results expected_;
  double float_score_ = 0;  // the score of expected_
};

// Returns true if operations may have floats, and the caller gets floats.
bool may_end_in_floats(const Options& options);

}  // namespace nnapi_convert::quantise
