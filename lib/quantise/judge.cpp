// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/judge.h"

#include <algorithm>
#include <utility>

namespace nnapi_convert::quantise {
namespace {

bool may_mix_floats(const Options& options) {
  return nnapi::IntegerRules::of(options.feature_level, options.per_channel).may_mix_floats();
}

}  // namespace

bool may_end_in_floats(const Options& options) {
  return may_mix_floats(options) && !options.integer_outputs;
}

Judge::Judge(const nnapi::Model& model, const Samples& samples, const Options& options)
    : model_(model), samples_(samples), options_(options) {
  for (const KeptSample& sample : samples.held_back) judging_.push_back(&sample);
}

void Judge::expect(Results expected) {
  expected_ = std::move(expected);
  if (options_.scoring.of) {
    float_score_ = options_.scoring.of(expected_, true);
  } else if (!samples_.classes.empty()) {
    const auto with_class =
        samples_.classes.size() -
        static_cast<size_t>(std::count(samples_.classes.begin(), samples_.classes.end(), std::nullopt));
    check_loss_provable(options_.target, with_class, judging_.size());
  } else {
    check_provable(options_.target, distance(model_, expected_, expected_), judging_.size());
  }
}

Judgement Judge::judgement(const Results& found) const {
  Judgement judgement{distance(model_, expected_, found)};
  if (!samples_.classes.empty()) {
    judgement.accuracy = accuracy(model_, samples_.class_output, samples_.classes, expected_, found);
  }
  const Scoring& scoring = options_.scoring;
  if (scoring.of) judgement.score = Score{scoring.name, float_score_, scoring.of(found, false), scoring.is_share};
  return judgement;
}

std::vector<std::string> Judge::slice_warnings(const Results& found, const Assignment& assignment,
                                               const std::vector<double>& uneven) const {
  return warnings_of_slices({model_, expected_, found, options_.target.is_of_whole},
                            [&](const Cut& cut) { return mending_of(cut, assignment, uneven); });
}

std::string Judge::mending_of(const Cut& cut, const Assignment& assignment, const std::vector<double>& uneven) const {
  std::string options = options_.integer_outputs ? " --quant nnapi" : "";
  if (!may_mix_floats(options_)) options += " --feature-level 3";
  for (size_t i = 0; i < model_.operations.size(); ++i) {
    const nnapi::Operation& operation = model_.operations[i];
    const bool is_float = may_end_in_floats(options_) ? !assignment.is_integer[i] : uneven[i] > 0;
    if (operation.outputs[0] != cut.made || is_float) continue;
    const std::string& value = model_.at(cut.made).name;
    const std::string code = name_of(operation.code);
    options += " --keep-float " + (value.empty() ? operation.source.empty() ? code : operation.source : value);
  }
  if (options.empty()) return "--min-snr leaves the operations float that cost most";
  const bool may_split = cut.is_of_concatenation && options_.integer_outputs && options_.target.is_of_whole;
  return options.substr(1) + " keeps them" +
         (may_split ? ", and --split-output makes them results with scales of their own" : "");
}

}  // namespace nnapi_convert::quantise
