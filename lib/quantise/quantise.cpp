#include "lib/quantise/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/base/error.h"
#include "lib/format/operation_table.h"
#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/compact.h"
#include "lib/nnapi/validate.h"
#include "lib/quantise/assign.h"
#include "lib/quantise/correct_bias.h"
#include "lib/quantise/host_model.h"
#include "lib/quantise/observe.h"
#include "lib/quantise/rewrite.h"

namespace nnapi_convert::quantise {
namespace {

using nnapi::Model;
using nnapi::Operation;

// A way to quantise, and how near it comes.
struct Candidate {
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
    observations_ = observe_samples();
    check_values();
    Candidate best = candidate(RangeMethod::kMinMax);
    check_any_integer(best);
    for (const RangeMethod method : all_range_methods()) {
      if (method == RangeMethod::kMinMax) continue;
      take_if_nearer(best, candidate(method));
    }
    take_if_nearer(best, with_correction(best));
    Report report = report_of(best);
    model_ = integer_form(best, options_.integer_inputs, options_.integer_outputs);
    check_valid();
    return report;
  }

 private:
  void show(const std::string& what, size_t done, size_t all) const {
    if (options_.on_progress) options_.on_progress(what, done, all);
  }

  // The held-back samples come last: their results are what is expected.
  Observations observe_samples() {
    const size_t all = samples_.calibration.size();
    ObserveRequest request{model_, arguments_, options_.feature_level,
                           [&](size_t done) { show("measure", done, all); }};
    Observations observations = observe(request, samples_.calibration);
    HostModel host(model_, arguments_, options_.feature_level);
    for (const Sample& sample : samples_.held_back) expected_.push_back(host.run(sample));
    return observations;
  }

  void check_values() {
    for (size_t i = 0; i < observations_.histograms.size(); ++i) {
      const Histogram& histogram = observations_.histograms[i];
      const nnapi::Operand& operand = model_.operands[i];
      if (histogram.empty() && histogram.not_finite() > 0) {
        throw ConvertError(ExitCode::kBadFile,
                           fmt::format("--calibrate: %{} has no finite value in any sample", operand.name));
      }
    }
    for (const nnapi::Boundary& input : model_.inputs) {
      const Histogram& histogram = observations_.histograms[static_cast<size_t>(input.operand)];
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

  Candidate candidate(RangeMethod method) {
    Candidate result;
    result.method = method;
    result.assignment = assign({model_, observations_, rules_, method, kept_});
    measure(result);
    return result;
  }

  Candidate with_correction(const Candidate& base) {
    Candidate result = base;
    result.corrects_bias = true;
    result.changes = bias_changes(model_, observations_, base.assignment, rules_);
    measure(result);
    return result;
  }

  static void take_if_nearer(Candidate& best, Candidate other) {
    if (other.distance.noise < best.distance.noise) best = std::move(other);
  }

  Model integer_form(const Candidate& candidate, bool integer_inputs, bool integer_outputs) const {
    RewriteRequest request{candidate.assignment, rules_, integer_inputs, integer_outputs};
    if (candidate.corrects_bias) request.bias_changes = &candidate.changes;
    Model result = rewrite(model_, request).model;
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
  Observations observations_;
  Results expected_;  // of the held-back samples
  Report report_;
};

}  // namespace

Report quantise(Model& model, const std::vector<Dims>& arguments, const Samples& samples, const Options& options) {
  return Quantising(model, arguments, samples, options).run();
}

}  // namespace nnapi_convert::quantise
