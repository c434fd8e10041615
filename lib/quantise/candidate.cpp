// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/candidate.h"

#include <utility>

#include "lib/nnapi/passes/compact.h"
#include "lib/quantise/device_forms.h"
#include "lib/quantise/host_model.h"

namespace nnapi_convert::quantise {

void take_if_nearer(Candidate& best, Candidate other) {
  if (other.noise() < best.noise()) best = std::move(other);
}

CandidateForms::CandidateForms(const std::vector<Dims>& arguments, const Options& options)
    : arguments_(arguments),
      options_(options),
      rules_(nnapi::IntegerRules::of(options.feature_level, options.per_channel, options.symmetric_weights)) {}

Assignment CandidateForms::assignment(const Candidate& candidate, const std::vector<bool>& kept) const {
  const FloatBase& base = *candidate.base;
  return assign({base.model, base.observations, rules_, candidate.method, kept, candidate.ranges, base.cache.get(),
                 options_.integer_outputs});
}

BiasChanges CandidateForms::changes(const Candidate& candidate) const {
  const FloatBase& base = *candidate.base;
  return bias_changes(base.model, base.observations, candidate.assignment, rules_, base.cache.get());
}

Rewritten CandidateForms::rewritten(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const {
  RewriteRequest request{candidate.assignment, rules_, integer_inputs, integer_outputs};
  if (candidate.corrects_bias) request.bias_changes = &candidate.changes;
  request.cache = candidate.base->cache.get();
  return rewrite(candidate.base->model, request);
}

nnapi::Model CandidateForms::integers(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const {
  nnapi::Model result = rewritten(candidate, integer_inputs, integer_outputs).model;
  nnapi::compact(result);
  return result;
}

std::vector<size_t> CandidateForms::refused(const Candidate& candidate) const {
  const Rewritten integers = rewritten(candidate, options_.integer_inputs, options_.integer_outputs);
  return refused_integers(*options_.device, candidate.base->model, candidate.assignment, integers);
}

Results CandidateForms::results(const Candidate& candidate, const std::vector<const KeptSample*>& samples, size_t count,
                                const std::function<void()>& on_run) const {
  HostModel host(integers(candidate, false, false), arguments_, options_.feature_level);
  Results found;
  for (size_t i = 0; i < count; ++i) {
    found.push_back(host.run(samples[i]->sample()));
    on_run();
  }
  return found;
}

Choice choice_of(const Candidate& candidate, const Observations& original) {
  const FloatBase& base = *candidate.base;
  Choice choice{candidate.assignment, base.pool_layers, base.is_equalised, base.drops_clipping};
  if (candidate.corrects_bias) choice.bias_changes = candidate.changes;
  const std::vector<size_t>& groups = candidate.assignment.groups;
  std::set<size_t> refined;
  for (const size_t operand : candidate.refined) refined.insert(groups[operand]);
  for (const size_t group : groups) choice.is_refined.push_back(refined.count(group) != 0);
  for (const Histogram& histogram : original.histograms) {
    choice.measured.push_back(histogram.empty() ? std::nullopt
                                                : std::optional(std::pair(histogram.lowest(), histogram.highest())));
  }
  return choice;
}

}  // namespace nnapi_convert::quantise
