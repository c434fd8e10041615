// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/api_level.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/candidate.h"
#include "lib/quantise/equalise.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/judge.h"
#include "lib/quantise/layers_of_pools.h"
#include "lib/quantise/named_operations.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/phase_runs.h"
#include "lib/quantise/refine_ranges.h"
#include "lib/quantise/run_meter.h"
#include "lib/quantise/sample_checks.h"
#include "lib/quantise/uneven_joints.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operation;

class Quantising {
 public:
  Quantising(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options)
      : model_(model),
        arguments_(arguments),
        samples_(samples),
        options_(options),
        forms_(arguments, options),
        judge_(model, samples, options) {
    kept_ = kept_float(model, options.keep_float);
    if (forms_.rules().may_mix_floats()) keep_recurrent(model, kept_);
    if (!options.on_progress) return;
    meter_ = RunMeter([&options](size_t done, size_t all) { options.on_progress(done, all); });
  }

  Report run() {
    select_choosing();
    begin(Phase::kExpect);
    expect_results();
    const auto original = std::make_shared<const FloatBase>(FloatBase{model_, observed(model_)});
    check_samples(model_, original->observations, report_.warnings);
    keep_uneven_joints(original->observations);
    keep_refused(original);
    Candidate best = nearest(original);
    if (options_.target.is_given()) hold_target(best);
    begin(Phase::kJudge);
    judge(best);
    report_.choice = choice_of(best, original->observations);
    report_.losses = losses(best.base->model);
    Report report = report_of(best);
    const std::string float_operation = first_float(best);
    model_ = forms_.integers(best, options_.integer_inputs, options_.integer_outputs);
    check_valid(float_operation);
    meter_.finish();
    return report;
  }

 private:
  PhaseRuns phase_runs() const {
    return {options_.techniques,         options_.target.is_given(), choosing_.size(), judge_.samples().size(),
            samples_.calibration.size(), model_.operations.size(),   most_runs()};
  }

  // Begins a phase that takes `runs` runs, or as many as it may.
  void begin(Phase phase, std::optional<size_t> runs = {}) { meter_.expect(phase_runs().from(phase, runs)); }

  // Picks the samples that choose, evenly from the calibration's, so that those held back have no part in the choice.
  void select_choosing() {
    const std::vector<KeptSample>& all = samples_.calibration;
    const size_t most = most_choosing();
    const size_t step = std::max<size_t>(1, (all.size() + most - 1) / most);
    for (size_t i = 0; i < all.size(); i += step) choosing_.push_back(&all[i]);
  }

  // Ranges chosen by few samples fit other samples badly; a small model can afford more of them.
  size_t most_choosing() const {
    constexpr size_t kFewest = 30, kMeasures = 20;  // about so many candidates are measured on all choosing samples
    return std::max(kFewest, most_runs() / kMeasures);
  }

  void expect_results() {
    expect_of_choosing();
    judge_.expect(expected_of(judge_.samples()));
  }

  void expect_of_choosing() {
    expected_ = expected_of(choosing_);
    noise_meter_.emplace(model_, expected_);
  }

  Results expected_of(const std::vector<const KeptSample*>& samples) {
    HostModel host(model_, arguments_, options_.feature_level);
    Results results;
    for (const KeptSample* sample : samples) {
      meter_.count();
      results.push_back(host.run(sample->sample()));
    }
    return results;
  }

  void choose_by_all() {
    if (choosing_.size() == samples_.calibration.size()) return;
    choosing_.clear();
    for (const KeptSample& sample : samples_.calibration) choosing_.push_back(&sample);
    expect_of_choosing();
  }

  // Keeps concatenations without a fitting scale in float, unless the caller gets integers or nothing may be float.
  void keep_uneven_joints(const Observations& observations) {
    uneven_ = uneven_joints(model_, observations);
    if (!may_end_in_floats(options_)) return;
    for (size_t i = 0; i < uneven_.size(); ++i) {
      if (uneven_[i] == 0 || kept_[i]) continue;
      kept_[i] = true;
      report_.uneven_joints.push_back(
          fmt::format("{}, the ranges of whose parts differ {:.0f} times", text_of(model_.operations[i]), uneven_[i]));
    }
  }

  // Keeps operations whose integer form the device refuses in float. The new boundary of the integers may have a form
  // that it refuses, too.
  void keep_refused(const std::shared_ptr<const FloatBase>& original) {
    if (!options_.device || !forms_.rules().may_mix_floats()) return;
    Candidate trial;
    trial.base = original;
    for (;;) {
      trial.assignment = forms_.assignment(trial, kept_);
      const std::vector<size_t> refused = forms_.refused(trial);
      if (refused.empty()) return;
      for (const size_t number : refused) {
        kept_[number] = true;
        report_.refused.push_back(text_of(model_.operations[number]));
      }
    }
  }

  size_t most_runs() const { return most_runs_of(model_, tries_all_); }

  Observations observed(const Model& model) {
    return observe({model, arguments_, options_.feature_level, [&](size_t) { meter_.count(); }}, samples_.calibration);
  }

  Candidate nearest(const std::shared_ptr<const FloatBase>& original) {
    std::shared_ptr<const FloatBase> base = original;
    Way best = chosen(base);
    if (options_.tries_all) try_all(base, best);
    return std::move(best.corrected);
  }

  // A candidate, and its form with corrected biases if these bring it nearer.
  struct Way {
    Candidate plain, corrected;
  };

  Way way_of(Candidate plain) {
    Way way{plain, std::move(plain)};
    if (options_.techniques.corrects_bias) take_if_nearer(way.corrected, with_correction(way.plain));
    return way;
  }

  // Returns the best way. `base` becomes the model with layers of pools if that is nearer.
  Way chosen(std::shared_ptr<const FloatBase>& base) {
    begin(Phase::kMethods);
    Candidate best = candidate(base, RangeMethod::kMinMax);
    check_any_integer(best);
    try_methods(best);
    if (options_.techniques.makes_pool_layers) try_pool_layers(*base, best);
    base = best.base;
    if (options_.techniques.equalises) {
      begin(Phase::kEqualise);
      for_each_equalised(
          *base, [&](const std::shared_ptr<const FloatBase>& made) { take_if_nearer(best, by_best_method(made)); });
    }
    refine_ranges(best);
    begin(Phase::kCorrect);
    return way_of(std::move(best));
  }

  // Continues from the way found in limited time: tries all ranges on all samples, also for the models that lost by
  // less than refined ranges and corrected biases may bring. Takes a way only if it is nearer beyond chance, so that
  // the result is worse than that of a quicker search only by chance.
  void try_all(const std::shared_ptr<const FloatBase>& base, Way& best) {
    tries_all_ = true;
    choose_by_all();
    measure(best.plain);
    measure(best.corrected);
    const auto take = [&](Candidate plain) {
      Way other = way_of(std::move(plain));
      const Noises &found = other.corrected.noises, &least = best.corrected.noises;
      if (is_nearer_beyond_chance(found, least, Chance::kOneIn40)) best = std::move(other);
    };
    Candidate further = best.plain;
    if (refine_ranges(further)) take(std::move(further));
    const auto try_base = [&](const std::shared_ptr<const FloatBase>& other) {
      Candidate plain = by_best_method(other);
      refine_ranges(plain);
      take(std::move(plain));
    };
    try_base(base);
    if (options_.techniques.equalises) for_each_equalised(*base, try_base);
  }

  // Tries layers in place of average pools. The observations stay valid: the tensors' values don't change.
  void try_pool_layers(const FloatBase& original, Candidate& best) {
    constexpr int kNchwLevel = 3;
    begin(Phase::kPools);
    LayersOfPools made = layers_of_pools(original.model, kept_, options_.feature_level >= kNchwLevel);
    if (!made.any()) return;
    Observations observations = original.observations;
    observations.histograms.resize(made.model.operands.size());
    observations.channels.resize(made.model.operands.size());
    FloatBase base{std::move(made.model), std::move(observations)};
    base.pool_layers = std::move(made.is_layer);
    Candidate layers = candidate(std::make_shared<const FloatBase>(std::move(base)), best.method);
    if (options_.device && !forms_.refused(layers).empty()) return;
    take_if_nearer(best, std::move(layers));
  }

  // Visits models with equalised layers: two if RELU6 cuts values off. One is in memory at a time.
  template <typename Visit>
  void for_each_equalised(const FloatBase& original, const Visit& visit) {
    size_t pairs = 0;  // pairs of layers in the model before
    for (const bool drops_clipping : {false, true}) {
      Equalised made = equalise(original.model, original.observations, {drops_clipping});
      if (made.pairs > pairs) {
        Observations observations = observed(made.model);
        FloatBase base{std::move(made.model), std::move(observations), true, drops_clipping, original.pool_layers};
        visit(std::make_shared<const FloatBase>(std::move(base)));
      }
      pairs = made.pairs;
      if (!made.has_clipping) break;
    }
  }

  void try_methods(Candidate& best) {
    if (!options_.techniques.searches_ranges) return;
    const std::shared_ptr<const FloatBase> base = best.base;
    for (const RangeMethod method : all_range_methods()) {
      if (method != RangeMethod::kMinMax) take_if_nearer(best, candidate(base, method));
    }
  }

  Candidate by_best_method(const std::shared_ptr<const FloatBase>& base) {
    Candidate best = candidate(base, RangeMethod::kMinMax);
    try_methods(best);
    return best;
  }

  void check_any_integer(const Candidate& candidate) const {
    if (candidate.assignment.integer_count() > 0) return;
    if (!report_.refused.empty()) throw NothingToQuantise("on device " + options_.device->name());
    throw NothingToQuantise();
  }

  Candidate candidate(const std::shared_ptr<const FloatBase>& base, RangeMethod method) {
    Candidate result;
    result.base = base;
    result.method = method;
    result.assignment = forms_.assignment(result, kept_);
    measure(result);
    return result;
  }

  // Tries the ranges of other methods for tensors, the largest changes first: as many as limited time allows, or all if
  // that is asked for. Each range is judged together with those kept before it. Returns whether any is kept.
  bool refine_ranges(Candidate& best) {
    if (!options_.techniques.searches_ranges || !options_.techniques.refines_ranges) return false;
    const std::vector<RangeTrial> trials = trials_of(best);
    if (trials.empty()) return false;
    const size_t samples = std::clamp(most_runs() / trials.size(), kFewestRefining, kMostRefining);
    begin(Phase::kRefine, trials.size() * std::min(samples, choosing_.size()) + choosing_.size());
    bool is_any = false;
    for (const RangeTrial& trial : trials) is_any = try_range(best, trial, samples) || is_any;
    return is_any;
  }

  static constexpr size_t kFewestRefining = 4, kMostRefining = 10;  // samples that have to gain first

  std::vector<RangeTrial> trials_of(const Candidate& best) const {
    std::vector<Assignment> others;
    for (const RangeMethod method : all_range_methods()) {
      Candidate other = best;
      other.method = method;
      if (method != best.method) others.push_back(forms_.assignment(other, kept_));
    }
    return range_trials(best.assignment, others, most_runs() / kFewestRefining);
  }

  // Tries a range. Of hundreds of ranges many bring some samples nearer by chance, and others further. So first some
  // samples have to gain, then all of them beyond chance. Returns whether the range is kept.
  bool try_range(Candidate& best, const RangeTrial& trial, size_t samples) {
    constexpr double kClearly = 0.98;
    Candidate other = best;
    if (other.ranges.empty()) other.ranges = best.assignment.ranges;
    for (const size_t operand : trial.operands) other.ranges[operand] = trial.range;
    other.assignment = forms_.assignment(other, kept_);
    other.refined.insert(trial.operands[0]);
    measure(other, samples);
    if (other.noise() >= total(best.noises, samples) * kClearly) return false;
    if (other.noises.size() < best.noises.size()) measure(other);
    if (!is_nearer_beyond_chance(other.noises, best.noises, Chance::kOneIn1000)) return false;
    best = std::move(other);
    return true;
  }

  Candidate with_correction(const Candidate& from) {
    Candidate result = from;
    result.corrects_bias = true;
    result.changes = forms_.changes(from);
    measure(result);
    return result;
  }

  Results judged_results(const Candidate& candidate) {
    return results_of(candidate, judge_.samples(), judge_.samples().size());
  }
  bool is_met(const Candidate& candidate) {
    return candidate.assignment.integer_count() > 0 && judge_.holds(judged_results(candidate));
  }

  // Returns the candidate with more operations in float.
  Candidate with_float(const Candidate& from, const std::vector<bool>& kept) {
    Candidate result = from;
    result.assignment = forms_.assignment(from, kept);
    if (result.corrects_bias) result.changes = forms_.changes(result);
    if (result.assignment.integer_count() > 0) measure(result);
    return result;
  }

  // Returns the operations, those first from which the results gain most if that one alone stays float.
  std::vector<size_t> by_sensitivity(const Candidate& from) {
    std::vector<std::pair<double, size_t>> noises;
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!from.assignment.is_integer[i] || nnapi::only_moves(model_.operations[i].code)) continue;
      std::vector<bool> kept = kept_;
      kept[i] = true;
      const Candidate other = with_float(from, kept);
      noises.emplace_back(other.noise(), i);
    }
    std::stable_sort(noises.begin(), noises.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<size_t> operations;
    for (const auto& each : noises) operations.push_back(each.second);
    return operations;
  }

  void hold_target(Candidate& best) {
    begin(Phase::kTarget);
    if (!is_met(best)) leave_float(best);
  }

  void leave_float(Candidate& best) {
    constexpr size_t kSteps = 8;
    begin(Phase::kTarget,
          best.assignment.integer_count() * choosing_.size() + kSteps * (choosing_.size() + judge_.samples().size()));
    const std::vector<size_t> operations = by_sensitivity(best);
    const Candidate all_integers = best;
    const auto with_first = [&](size_t count) {
      std::vector<bool> kept = kept_;
      for (size_t i = 0; i < count; ++i) kept[operations[i]] = true;
      return with_float(all_integers, kept);
    };
    const size_t fewest = fewest_float(operations.size(), [&](size_t count) { return is_met(with_first(count)); });
    best = with_first(fewest);
    if (!is_met(best)) refuse_target(judge_.judgement(judged_results(all_integers)));
    for (size_t i = 0; i < fewest; ++i) {
      const Operation& operation = model_.operations[operations[i]];
      report_.left_float.push_back(std::string(name_of(operation.code)) +
                                   (operation.source.empty() ? "" : " from " + operation.source));
    }
  }

  // Measures a candidate on the first `most` of the choosing samples.
  void measure(Candidate& candidate, size_t most = std::numeric_limits<size_t>::max()) {
    const size_t count = std::min(most, choosing_.size());
    candidate.noises = noise_meter_->noises(results_of(candidate, choosing_, count));
  }

  void judge(const Candidate& candidate) {
    const Results found = judged_results(candidate);
    Judgement judgement = judge_.judgement(found);
    report_.distance = judgement.distance;
    report_.accuracy = judgement.accuracy;
    report_.score = std::move(judgement.score);
    for (std::string& warning : judge_.slice_warnings(found, candidate.assignment, uneven_)) {
      report_.warnings.push_back(std::move(warning));
    }
  }

  Results results_of(const Candidate& candidate, const std::vector<const KeptSample*>& samples, size_t count) {
    return forms_.results(candidate, samples, count, [&] { meter_.count(); });
  }

  std::vector<OperationLoss> losses(const Model& base) {
    const std::vector<KeptSample>& all = samples_.held_back;
    const std::vector<KeptSample> some(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostDiagnosed)));
    return diagnose(base, report_.choice, some,
                    {arguments_, {forms_.rules()}, [&] { meter_.count(kRunsOfDiagnosis); }});
  }

  Report report_of(const Candidate& best) {
    report_.operations = model_.operations.size();
    report_.integer_operations = best.assignment.integer_count();
    report_.method = best.method;
    report_.is_bias_corrected = best.corrects_bias;
    report_.refined_ranges = best.refined.size();
    report_.is_equalised = best.base->is_equalised;
    report_.calibration_samples = samples_.calibration.size();
    report_.held_back_samples = samples_.held_back.size();
    return std::move(report_);
  }

  // Returns the name of an operation that computes with floats, preferably one that has to; empty if there is none.
  std::string first_float(const Candidate& candidate) const {
    std::string name;
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& operation = model_.operations[i];
      if (candidate.assignment.is_integer[i] || float_variables(model_, operation).empty()) continue;
      if (kept_[i] || !has_integer_form(model_, operation, forms_.rules())) return text_of(operation);
      if (name.empty()) name = text_of(operation);
    }
    return name;
  }

  void check_valid(const std::string& float_operation) const {
    constexpr int kHasQuantize = 3;
    const std::vector<std::string> problems = nnapi::validate(model_, options_.feature_level);
    if (!problems.empty() && options_.feature_level < kHasQuantize) {
      const bool is_interface = float_operation.empty();
      const std::string floats = is_interface ? "inputs and outputs are floats" : float_operation + " has floats";
      throw ConvertError(
          ExitCode::kNotConvertible,
          fmt::format("--calibrate: {}, and NNAPI turns floats into integers from feature level {} on, {} found: "
                      "use {}{}",
                      floats, kHasQuantize, options_.feature_level, is_interface ? "--quant core or full, or " : "",
                      option_for_level(kHasQuantize)));
    }
    NNC_ASSERT(problems.empty(), fmt::format("the quantised model is not valid: {}", problems[0]));
  }

  Model& model_;
  const std::vector<Dims>& arguments_;
  const Samples& samples_;
  const Options& options_;
  CandidateForms forms_;
  Judge judge_;
  std::vector<bool> kept_;
  std::vector<double> uneven_;  // uneven_joints()
  std::vector<const KeptSample*> choosing_;
  Results expected_;                       // for the choosing samples
  std::optional<NoiseMeter> noise_meter_;  // for expected_
  bool tries_all_ = false;                 // all ranges, however long that takes
  Report report_;
  RunMeter meter_{nullptr};
};

}  // namespace

Report quantise(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options) {
  return Quantising(model, arguments, samples, options).run();
}

}  // namespace nnapi_convert::quantise
