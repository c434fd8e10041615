// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <set>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/integer_forms.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/correct_bias.h"
#include "lib/quantise/device_forms.h"
#include "lib/quantise/equalise.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/layers_of_pools.h"
#include "lib/quantise/named_operations.h"
#include "lib/quantise/noise.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/phase_runs.h"
#include "lib/quantise/refine_ranges.h"
#include "lib/quantise/rewrite.h"
#include "lib/quantise/run_meter.h"
#include "lib/quantise/sample_checks.h"
#include "lib/quantise/slices.h"
#include "lib/quantise/uneven_joints.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operation;

// A float model that computes what the original does, and what its tensors hold.
struct Base {
  Model model;
  Observations observations;
  bool is_equalised = false;
  bool drops_clipping = false;
  std::vector<bool> pool_layers = {};  // by operation; may be empty
  std::unique_ptr<WeightCache> cache = std::make_unique<WeightCache>();
};

// A way to quantise, and how near it comes.
struct Candidate {
  std::shared_ptr<const Base> base;
  Assignment assignment;
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<std::optional<Range>> ranges = {};  // by operand, in place of the method's; may be empty
  std::set<size_t> refined = {};                  // tensors that have another range than the method's
  bool corrects_bias = false;
  BiasChanges changes = {};
  Noises noises = {};  // of the choosing samples

  double noise() const { return total(noises); }
};

class Quantising {
 public:
  Quantising(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options)
      : model_(model), arguments_(arguments), samples_(samples), options_(options) {
    rules_ = nnapi::IntegerRules::of(options.feature_level, options.per_channel);
    kept_ = kept_float(model, options.keep_float);
    if (rules_.may_mix_floats()) keep_recurrent(model, kept_);
    if (!options.on_progress) return;
    meter_ = RunMeter([&options](size_t done, size_t all) { options.on_progress(done, all); });
  }

  Report run() {
    select_choosing();
    begin(Phase::kExpect);
    expect_results();
    const auto original = std::make_shared<const Base>(Base{model_, observed(model_)});
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
    model_ = integer_form(best, options_.integer_inputs, options_.integer_outputs);
    check_valid(float_operation);
    return report;
  }

 private:
  PhaseRuns phase_runs() const {
    return {options_.techniques,         options_.target.is_given(), choosing_.size(), judging_.size(),
            samples_.calibration.size(), model_.operations.size(),   most_runs()};
  }

  // The phase takes `runs`, or as many as it may.
  void begin(Phase phase, std::optional<size_t> runs = {}) { meter_.expect(phase_runs().from(phase, runs)); }

  // Samples of the calibration choose, all over it, so that those held back have no part in the choice.
  void select_choosing() {
    const std::vector<KeptSample>& all = samples_.calibration;
    const size_t most = most_choosing();
    const size_t step = std::max<size_t>(1, (all.size() + most - 1) / most);
    for (size_t i = 0; i < all.size(); i += step) choosing_.push_back(&all[i]);
    for (const KeptSample& sample : samples_.held_back) judging_.push_back(&sample);
  }

  // What few samples choose fits others less. More choose where the model is small.
  size_t most_choosing() const {
    constexpr size_t kFewest = 30, kMeasures = 20;  // as many candidates are measured by all that choose
    return std::max(kFewest, most_runs() / kMeasures);
  }

  void expect_results() {
    expect_of_choosing();
    expected_last_ = expected_of(judging_);
    check_target_provable();
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

  void check_target_provable() {
    if (options_.scoring.of) {
      float_score_ = options_.scoring.of(expected_last_, true);
    } else if (!samples_.classes.empty()) {
      const auto with_class =
          samples_.classes.size() -
          static_cast<size_t>(std::count(samples_.classes.begin(), samples_.classes.end(), std::nullopt));
      check_loss_provable(options_.target, with_class, judging_.size());
    } else {
      check_provable(options_.target, distance(model_, expected_last_, expected_last_), judging_.size());
    }
  }

  // Concatenations without a scale that fits stay float, unless the caller gets integers or nothing may be float.
  void keep_uneven_joints(const Observations& observations) {
    uneven_ = uneven_joints(model_, observations);
    if (!may_end_in_floats()) return;
    for (size_t i = 0; i < uneven_.size(); ++i) {
      if (uneven_[i] == 0 || kept_[i]) continue;
      kept_[i] = true;
      report_.uneven_joints.push_back(
          fmt::format("{}, the ranges of whose parts differ {:.0f} times", text_of(model_.operations[i]), uneven_[i]));
    }
  }
  bool may_end_in_floats() const { return rules_.may_mix_floats() && !options_.integer_outputs; }

  // Operations whose integer form the device refuses stay float. Another boundary of the integers may have a form that
  // it refuses, too.
  void keep_refused(const std::shared_ptr<const Base>& original) {
    if (!options_.device || !rules_.may_mix_floats()) return;
    Candidate trial;
    trial.base = original;
    for (;;) {
      trial.assignment = assigned(trial, kept_);
      const std::vector<size_t> refused = refused_by_device(trial);
      if (refused.empty()) return;
      for (const size_t number : refused) {
        kept_[number] = true;
        report_.refused.push_back(text_of(model_.operations[number]));
      }
    }
  }

  std::vector<size_t> refused_by_device(const Candidate& candidate) const {
    const Rewritten integers = rewritten(candidate, options_.integer_inputs, options_.integer_outputs);
    return refused_integers(*options_.device, candidate.base->model, candidate.assignment, integers);
  }

  size_t most_runs() const { return most_runs_of(model_, tries_all_); }

  Observations observed(const Model& model) {
    return observe({model, arguments_, options_.feature_level, [&](size_t) { meter_.count(); }}, samples_.calibration);
  }

  Candidate nearest(const std::shared_ptr<const Base>& original) {
    std::shared_ptr<const Base> base = original;
    Way best = chosen(base);
    if (options_.tries_all) try_all(base, best);
    return std::move(best.corrected);
  }

  // A candidate, and the same with corrected biases where these bring it nearer.
  struct Way {
    Candidate plain, corrected;
  };

  Way way_of(Candidate plain) {
    Way way{plain, std::move(plain)};
    if (options_.techniques.corrects_bias) take_if_nearer(way.corrected, with_correction(way.plain));
    return way;
  }

  // `base` becomes the model with layers of pools, where it is nearer.
  Way chosen(std::shared_ptr<const Base>& base) {
    begin(Phase::kMethods);
    Candidate best = candidate(base, RangeMethod::kMinMax);
    check_any_integer(best);
    try_methods(best);
    if (options_.techniques.makes_pool_layers) try_pool_layers(*base, best);
    base = best.base;
    if (options_.techniques.equalises) {
      begin(Phase::kEqualise);
      for_each_equalised(*base,
                         [&](const std::shared_ptr<const Base>& made) { take_if_nearer(best, by_best_method(made)); });
    }
    refine_ranges(best);
    begin(Phase::kCorrect);
    return way_of(std::move(best));
  }

  // Goes on from what limited time has found: all ranges, on all samples, also of the models that lost by less than
  // refined ranges and corrected biases may bring. Takes what is nearer beyond chance, so that it loses to nothing that
  // takes less time but by chance.
  void try_all(const std::shared_ptr<const Base>& base, Way& best) {
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
    const auto try_base = [&](const std::shared_ptr<const Base>& other) {
      Candidate plain = by_best_method(other);
      refine_ranges(plain);
      take(std::move(plain));
    };
    try_base(base);
    if (options_.techniques.equalises) for_each_equalised(*base, try_base);
  }

  // Tries layers in place of average pools. The tensors hold what they did.
  void try_pool_layers(const Base& original, Candidate& best) {
    constexpr int kNchwLevel = 3;
    begin(Phase::kPools);
    LayersOfPools made = layers_of_pools(original.model, kept_, options_.feature_level >= kNchwLevel);
    if (!made.any()) return;
    Observations observations = original.observations;
    observations.histograms.resize(made.model.operands.size());
    observations.channels.resize(made.model.operands.size());
    Base base{std::move(made.model), std::move(observations)};
    base.pool_layers = std::move(made.is_layer);
    Candidate layers = candidate(std::make_shared<const Base>(std::move(base)), best.method);
    if (options_.device && !refused_by_device(layers).empty()) return;
    take_if_nearer(best, std::move(layers));
  }

  // Models with equalised layers: two where RELU6 cuts values off. One is in memory at a time.
  template <typename Visit>
  void for_each_equalised(const Base& original, const Visit& visit) {
    size_t pairs = 0;  // of layers that the one before found
    for (const bool drops_clipping : {false, true}) {
      Equalised made = equalise(original.model, original.observations, {drops_clipping});
      if (made.pairs > pairs) {
        Observations observations = observed(made.model);
        Base base{std::move(made.model), std::move(observations), true, drops_clipping, original.pool_layers};
        visit(std::make_shared<const Base>(std::move(base)));
      }
      pairs = made.pairs;
      if (!made.has_clipping) break;
    }
  }

  void try_methods(Candidate& best) {
    if (!options_.techniques.searches_ranges) return;
    const std::shared_ptr<const Base> base = best.base;
    for (const RangeMethod method : all_range_methods()) {
      if (method != RangeMethod::kMinMax) take_if_nearer(best, candidate(base, method));
    }
  }

  Candidate by_best_method(const std::shared_ptr<const Base>& base) {
    Candidate best = candidate(base, RangeMethod::kMinMax);
    try_methods(best);
    return best;
  }

  void check_any_integer(const Candidate& candidate) const {
    if (candidate.assignment.integer_count() > 0) return;
    if (!report_.refused.empty()) throw NothingToQuantise("on device " + options_.device->name());
    throw NothingToQuantise();
  }

  Candidate candidate(const std::shared_ptr<const Base>& base, RangeMethod method) {
    Candidate result;
    result.base = base;
    result.method = method;
    result.assignment = assigned(result, kept_);
    measure(result);
    return result;
  }

  Assignment assigned(const Candidate& candidate, const std::vector<bool>& kept) const {
    const Base& base = *candidate.base;
    return assign({base.model, base.observations, rules_, candidate.method, kept, candidate.ranges, base.cache.get(),
                   options_.integer_outputs});
  }

  // Tries for tensors, those with the largest changes first, the ranges that other methods give them: as many as take
  // limited time, and all of them if they are asked for. A range is kept or not by those before it. Returns whether any
  // is.
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
      if (method != best.method) others.push_back(assigned(other, kept_));
    }
    return range_trials(best.assignment, others, most_runs() / kFewestRefining);
  }

  // Of hundreds of ranges many bring the samples nearer by chance, and others further. So first some samples have to
  // gain, then all of them beyond chance. Returns whether the range is kept.
  bool try_range(Candidate& best, const RangeTrial& trial, size_t samples) {
    constexpr double kClearly = 0.98;
    Candidate other = best;
    if (other.ranges.empty()) other.ranges = best.assignment.ranges;
    for (const size_t operand : trial.operands) other.ranges[operand] = trial.range;
    other.assignment = assigned(other, kept_);
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
    result.changes = changes_of(from);
    measure(result);
    return result;
  }

  BiasChanges changes_of(const Candidate& candidate) const {
    const Base& base = *candidate.base;
    return bias_changes(base.model, base.observations, candidate.assignment, rules_, base.cache.get());
  }

  // Of the samples held back.
  Judgement judged(const Candidate& candidate) { return judged(results_of(candidate, judging_, judging_.size())); }
  Judgement judged(const Results& found) const {
    Judgement judgement{distance(model_, expected_last_, found)};
    if (!samples_.classes.empty()) {
      judgement.accuracy = accuracy(model_, samples_.class_output, samples_.classes, expected_last_, found);
    }
    const Scoring& scoring = options_.scoring;
    if (scoring.of) judgement.score = Score{scoring.name, float_score_, scoring.of(found, false), scoring.is_share};
    return judgement;
  }
  bool is_met(const Candidate& candidate) {
    return candidate.assignment.integer_count() > 0 && holds(options_.target, judged(candidate));
  }

  // The candidate with more operations in float.
  Candidate with_float(const Candidate& from, const std::vector<bool>& kept) {
    Candidate result = from;
    result.assignment = assigned(from, kept);
    if (result.corrects_bias) result.changes = changes_of(result);
    if (result.assignment.integer_count() > 0) measure(result);
    return result;
  }

  // Operations in the order of what the results gain where one alone stays float.
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
          best.assignment.integer_count() * choosing_.size() + kSteps * (choosing_.size() + judging_.size()));
    const std::vector<size_t> operations = by_sensitivity(best);
    const Candidate all_integers = best;
    const auto with_first = [&](size_t count) {
      std::vector<bool> kept = kept_;
      for (size_t i = 0; i < count; ++i) kept[operations[i]] = true;
      return with_float(all_integers, kept);
    };
    const size_t fewest = fewest_float(operations.size(), [&](size_t count) { return is_met(with_first(count)); });
    best = with_first(fewest);
    if (!is_met(best)) refuse_target(judged(all_integers));
    for (size_t i = 0; i < fewest; ++i) {
      const Operation& operation = model_.operations[operations[i]];
      report_.left_float.push_back(std::string(name_of(operation.code)) +
                                   (operation.source.empty() ? "" : " from " + operation.source));
    }
  }

  static void take_if_nearer(Candidate& best, Candidate other) {
    if (other.noise() < best.noise()) best = std::move(other);
  }

  Rewritten rewritten(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const {
    RewriteRequest request{candidate.assignment, rules_, integer_inputs, integer_outputs};
    if (candidate.corrects_bias) request.bias_changes = &candidate.changes;
    request.cache = candidate.base->cache.get();
    return rewrite(candidate.base->model, request);
  }

  Model integer_form(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const {
    Model result = rewritten(candidate, integer_inputs, integer_outputs).model;
    nnapi::compact(result);
    return result;
  }

  // On the first `most` of the choosing samples.
  void measure(Candidate& candidate, size_t most = std::numeric_limits<size_t>::max()) {
    const size_t count = std::min(most, choosing_.size());
    candidate.noises = noise_meter_->noises(results_of(candidate, choosing_, count));
  }

  void judge(const Candidate& candidate) {
    const Results found = results_of(candidate, judging_, judging_.size());
    Judgement judgement = judged(found);
    report_.distance = judgement.distance;
    report_.accuracy = judgement.accuracy;
    report_.score = std::move(judgement.score);
    const auto mending = [&](const Cut& cut) { return mending_of(cut, candidate.assignment); };
    for (std::string& warning :
         warnings_of_slices({model_, expected_last_, found, options_.target.is_of_whole}, mending)) {
      report_.warnings.push_back(std::move(warning));
    }
  }

  // What lets the slices keep their values.
  std::string mending_of(const Cut& cut, const Assignment& assignment) const {
    std::string options = options_.integer_outputs ? " --quant nnapi" : "";
    if (!rules_.may_mix_floats()) options += " --feature-level 3";
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& operation = model_.operations[i];
      const bool is_float = may_end_in_floats() ? !assignment.is_integer[i] : uneven_[i] > 0;
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

  // With floats at the boundary, so that the results can be compared.
  Results results_of(const Candidate& candidate, const std::vector<const KeptSample*>& samples, size_t count) {
    HostModel host(integer_form(candidate, false, false), arguments_, options_.feature_level);
    Results found;
    for (size_t i = 0; i < count; ++i) {
      found.push_back(host.run(samples[i]->sample()));
      meter_.count();
    }
    return found;
  }

  std::vector<OperationLoss> losses(const Model& base) {
    const std::vector<KeptSample>& all = samples_.held_back;
    const std::vector<KeptSample> some(all.begin(),
                                       all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostDiagnosed)));
    return diagnose(base, report_.choice, some, {arguments_, {rules_}, [&] { meter_.count(kRunsOfDiagnosis); }});
  }

  static Choice choice_of(const Candidate& best, const Observations& original) {
    Choice choice{best.assignment, best.base->pool_layers, best.base->is_equalised, best.base->drops_clipping};
    if (best.corrects_bias) choice.bias_changes = best.changes;
    const std::vector<size_t>& groups = best.assignment.groups;
    std::set<size_t> refined;
    for (const size_t operand : best.refined) refined.insert(groups[operand]);
    for (const size_t group : groups) choice.is_refined.push_back(refined.count(group) != 0);
    for (const Histogram& histogram : original.histograms) {
      choice.measured.push_back(histogram.empty() ? std::nullopt
                                                  : std::optional(std::pair(histogram.lowest(), histogram.highest())));
    }
    return choice;
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

  // Names an operation that computes with floats: one that has to, rather than one that does for its sake. Empty: there
  // is none.
  std::string first_float(const Candidate& candidate) const {
    std::string name;
    for (size_t i = 0; i < model_.operations.size(); ++i) {
      const Operation& operation = model_.operations[i];
      if (candidate.assignment.is_integer[i] || float_variables(model_, operation).empty()) continue;
      if (kept_[i] || !has_integer_form(model_, operation, rules_)) return text_of(operation);
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
                      "use {}--feature-level {}",
                      floats, kHasQuantize, options_.feature_level, is_interface ? "--quant core or full, or " : "",
                      kHasQuantize));
    }
    NNC_ASSERT(problems.empty(), fmt::format("the quantised model is not valid: {}", problems[0]));
  }

  Model& model_;
  const std::vector<Dims>& arguments_;
  const Samples& samples_;
  const Options& options_;
  nnapi::IntegerRules rules_;
  std::vector<bool> kept_;
  std::vector<double> uneven_;  // uneven_joints()
  std::vector<const KeptSample*> choosing_, judging_;
  Results expected_;                       // of the choosing samples
  std::optional<NoiseMeter> noise_meter_;  // of the same
  Results expected_last_;                  // of those that judge
  double float_score_ = 0;                 // of expected_last_
  bool tries_all_ = false;                 // all ranges, however long that takes
  Report report_;
  RunMeter meter_{nullptr};
};

}  // namespace

Report quantise(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options) {
  return Quantising(model, arguments, samples, options).run();
}

}  // namespace nnapi_convert::quantise
