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
  // Takes the float model's results on samples(). Throws ConvertError where options.target is one that these can't
  // prove.
  void expect(Results expected);
  Judgement judgement(const Results& found) const;
  // True if the results keep to options.target.
  bool holds(const Results& found) const { return quantise::holds(options_.target, judgement(found)); }

  // How slices of the results lose their values, and what lets them keep these. `uneven` are the model's
  // uneven_joints().
  std::vector<std::string> slice_warnings(const Results& found, const Assignment& assignment,
                                          const std::vector<double>& uneven) const;

 private:
  std::string mending_of(const Cut& cut, const Assignment& assignment, const std::vector<double>& uneven) const;

  const nnapi::Model& model_;
  const Samples& samples_;
  const Options& options_;
  std::vector<const KeptSample*> judging_;
  Results expected_;
  double float_score_ = 0;  // of expected_
};

// True where operations may have floats, and the caller gets them.
bool may_end_in_floats(const Options& options);

}  // namespace nnapi_convert::quantise
