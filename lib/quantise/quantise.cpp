#include "lib/quantise/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/correct_bias.h"
#include "lib/quantise/equalise.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operation;

// A float model that computes what the original does, and what its tensors hold.
struct Base {
  Model model;
  Observations observations;
  bool is_equalised = false;
};

// A way to quantise, and how near it comes.
struct Candidate {
  std::shared_ptr<const Base> base;
  Assignment assignment;
  RangeMethod method = RangeMethod::kMinMax;
  bool corrects_bias = false;
  BiasChanges changes = {};
  Distance distance = {};
};

std::vector<bool> kept_float(const Model& model, const std::vector<std::string>& names) {
  std::vector<bool> kept(model.operations.size(), false);
  for (const std::string& name : names) {
    bool is_found = false;
    for (size_t i = 0; i < model.operations.size(); ++i) {
      const Operation& operation = model.operations[i];
      const std::string& result = model.at(operation.outputs[0]).name;
      if (name_of(operation.code) != name && result != name && operation.source != name) continue;
      kept[i] = is_found = true;
    }
    if (is_found) continue;
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--keep-float {}: no operation found; give an NNAPI operation, the name of a value "
                                   "or a source line, as --dump-after optimise and reports show them",
                                   name));
  }
  return kept;
}

class Quantising {
 public:
  Quantising(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options)
      : model_(model), arguments_(arguments), samples_(samples), options_(options) {
    rules_.feature_level = options.feature_level;
    rules_.per_channel = options.per_channel && options.feature_level >= 3;
    kept_ = kept_float(model, options.keep_float);
  }

  Report run() {
    for (const Sample& sample : samples_.held_back) expected_.push_back(host_of(model_).run(sample));
    const auto original = std::make_shared<const Base>(Base{model_, observed(model_, "measure"), false});
    check_values(original->observations);
    Candidate best = candidate(original, RangeMethod::kMinMax);
    check_any_integer(best);
    try_methods(best);
    if (options_.equalises) {
      for (const auto& base : equalised(*original)) try_base(base, best);
    }
    take_if_nearer(best, with_correction(best));
    if (!is_met(best)) leave_float(best);
    Report report = report_of(best);
    model_ = integer_form(best, options_.integer_inputs, options_.integer_outputs);
    check_valid();
    return report;
  }

 private:
  void show(const std::string& what, size_t done, size_t all) const {
    if (options_.on_progress) options_.on_progress(what, done, all);
  }

  HostModel& host_of(const Model& model) {
    if (!float_host_) float_host_ = std::make_unique<HostModel>(model, arguments_, options_.feature_level);
    return *float_host_;
  }

  Observations observed(const Model& model, const char* what) {
    const size_t all = samples_.calibration.size();
    return observe({model, arguments_, options_.feature_level, [&](size_t done) { show(what, done, all); }},
                   samples_.calibration);
  }

  // What equalisation makes of the model; twice where RELU6 cuts values off.
  std::vector<std::shared_ptr<const Base>> equalised(const Base& original) {
    std::vector<std::shared_ptr<const Base>> bases;
    for (const bool drops_clipping : {false, true}) {
      Equalised made = equalise(original.model, original.observations, {drops_clipping});
      const bool is_new = made.pairs > 0 && (bases.empty() || made.pairs > pairs_);
      pairs_ = made.pairs;
      if (is_new) {
        Observations observations = observed(made.model, "measure equalised");
        bases.push_back(std::make_shared<const Base>(Base{std::move(made.model), std::move(observations), true}));
      }
      if (!made.has_clipping) break;
    }
    return bases;
  }

  void try_methods(Candidate& best) {
    const std::shared_ptr<const Base> base = best.base;
    for (const RangeMethod method : all_range_methods()) {
      if (method != RangeMethod::kMinMax) take_if_nearer(best, candidate(base, method));
    }
  }

  void try_base(const std::shared_ptr<const Base>& base, Candidate& best) {
    Candidate other = candidate(base, RangeMethod::kMinMax);
    try_methods(other);
    take_if_nearer(best, std::move(other));
  }

  void check_values(const Observations& observations) {
    for (size_t i = 0; i < observations.histograms.size(); ++i) {
      const Histogram& histogram = observations.histograms[i];
      const nnapi::Operand& operand = model_.operands[i];
      if (histogram.empty() && histogram.not_finite() > 0) {
        throw ConvertError(ExitCode::kBadFile,
                           fmt::format("--calibrate: %{} has no finite value in any sample", operand.name));
      }
    }
    for (const nnapi::Boundary& input : model_.inputs) {
      const Histogram& histogram = observations.histograms[static_cast<size_t>(input.operand)];
      if (histogram.empty() || histogram.lowest() < histogram.highest()) continue;
      report_.warnings.push_back(
          fmt::format("calibration: input {} is {} everywhere in all samples: the scales fit "
                      "nothing else; give real inputs",
                      input.argument, histogram.lowest()));
    }
  }

  static void check_any_integer(const Candidate& candidate) {
    if (candidate.assignment.integer_count() > 0) return;
    throw ConvertError(ExitCode::kNotConvertible,
                       "--calibrate: no operation of the model can compute with integers at this feature level; "
                       "convert it without --calibrate");
  }

  Candidate candidate(const std::shared_ptr<const Base>& base, RangeMethod method) {
    Candidate result;
    result.base = base;
    result.method = method;
    result.assignment = assign({base->model, base->observations, rules_, method, kept_});
    measure(result);
    return result;
  }

  Candidate with_correction(const Candidate& from) {
    Candidate result = from;
    result.corrects_bias = true;
    result.changes = bias_changes(from.base->model, from.base->observations, from.assignment, rules_);
    measure(result);
    return result;
  }

  bool is_met(const Candidate& candidate) const {
    const Distance& distance = candidate.distance;
    return (!options_.max_drop || 1 - distance.top1 <= *options_.max_drop + 1e-9) &&
           (!options_.min_snr || distance.snr_db >= *options_.min_snr);
  }

  // The candidate with more operations in float.
  Candidate with_float(const Candidate& from, const std::vector<bool>& kept) {
    Candidate result = from;
    result.assignment = assign({from.base->model, from.base->observations, rules_, from.method, kept});
    if (result.corrects_bias) {
      result.changes = bias_changes(from.base->model, from.base->observations, result.assignment, rules_);
    }
    if (result.assignment.integer_count() > 0) measure(result);
    return result;
  }

  // Operations in the order of what the results gain where one alone stays float.
  std::vector<size_t> by_sensitivity(const Candidate& from) {
    std::vector<std::pair<double, size_t>> noises;
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (!from.assignment.is_integer[i] || only_moves(model_.operations[i].code)) continue;
      std::vector<bool> kept = kept_;
      kept[i] = true;
      const Candidate other = with_float(from, kept);
      noises.emplace_back(other.distance.noise, i);
    }
    std::stable_sort(noises.begin(), noises.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<size_t> operations;
    for (const auto& each : noises) operations.push_back(each.second);
    return operations;
  }

  // Doubles the number that stay float until the target holds, then halves the step back to the least that does.
  void leave_float(Candidate& best) {
    const std::vector<size_t> operations = by_sensitivity(best);
    const Candidate all_integers = best;
    const auto with_first = [&](size_t count) {
      std::vector<bool> kept = kept_;
      for (size_t i = 0; i < count; ++i) kept[operations[i]] = true;
      return with_float(all_integers, kept);
    };
    size_t low = 0, high = 1;
    while (high < operations.size() && !is_met(with_first(high))) {
      low = high;
      high *= 2;
    }
    high = std::min(high, operations.size());
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (is_met(with_first(middle)) ? high : low) = middle;
    }
    best = with_first(high);
    if (best.assignment.integer_count() == 0 || !is_met(best)) refuse_target(all_integers);
    for (size_t i = 0; i < high; ++i) {
      const Operation& operation = model_.operations[operations[i]];
      report_.left_float.push_back(std::string(name_of(operation.code)) +
                                   (operation.source.empty() ? "" : " from " + operation.source));
    }
  }

  [[noreturn]] static void refuse_target(const Candidate& candidate) {
    throw ConvertError(ExitCode::kNotConvertible,
                       fmt::format("--max-drop or --min-snr can't be held with any operation in integers: with all of "
                                   "them the SNR is {:.1f} dB and the top-1 agreement {:.1f}%; ask for less, or give "
                                   "more samples",
                                   candidate.distance.snr_db, 100 * candidate.distance.top1));
  }

  static void take_if_nearer(Candidate& best, Candidate other) {
    if (other.distance.noise < best.distance.noise) best = std::move(other);
  }

  Model integer_form(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const {
    RewriteRequest request{candidate.assignment, rules_, integer_inputs, integer_outputs};
    if (candidate.corrects_bias) request.bias_changes = &candidate.changes;
    Model result = rewrite(candidate.base->model, request).model;
    nnapi::compact(result);
    return result;
  }

  // With floats at the boundary, so that the results can be compared.
  void measure(Candidate& candidate) {
    HostModel host(integer_form(candidate, false, false), arguments_, options_.feature_level);
    Results found;
    for (const Sample& sample : samples_.held_back) {
      found.push_back(host.run(sample));
      show("compare", found.size(), samples_.held_back.size());
    }
    candidate.distance = distance(model_, expected_, found);
  }

  Report report_of(const Candidate& best) {
    report_.operations = model_.operations.size();
    report_.integer_operations = best.assignment.integer_count();
    report_.method = best.method;
    report_.is_bias_corrected = best.corrects_bias;
    report_.is_equalised = best.base->is_equalised;
    report_.distance = best.distance;
    report_.calibration_samples = samples_.calibration.size();
    report_.held_back_samples = samples_.held_back.size();
    return std::move(report_);
  }

  void check_valid() const {
    const std::vector<std::string> problems = nnapi::validate(model_, options_.feature_level);
    NNC_ASSERT(problems.empty(), fmt::format("the quantised model is not valid: {}", problems[0]));
  }

  Model& model_;
  const std::vector<Dims>& arguments_;
  const Samples& samples_;
  const Options& options_;
  Rules rules_;
  std::vector<bool> kept_;
  std::unique_ptr<HostModel> float_host_;
  size_t pairs_ = 0;  // of layers that the newest equalisation found
  Results expected_;  // of the held-back samples
  Report report_;
};

}  // namespace

Report quantise(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options) {
  return Quantising(model, arguments, samples, options).run();
}

}  // namespace nnapi_convert::quantise
