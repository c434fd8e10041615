// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/case_checks.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/converter/convert.h"
#include "lib/converter/graph/quantised_engine.h"
#include "lib/nnapi/validate.h"
#include "tests/ops/buffer_check.h"
#include "tests/ops/case_module.h"
#include "tests/ops/compare.h"
#include "tests/ops/litert_check.h"

namespace nnapi_convert {
namespace {

constexpr int kSamples = 3;
// gelu and erf keep 1e-5, which is the tolerance of this range: chains of random steps may leave less.
constexpr double kLeastFreeRange = 0.1;
constexpr int kNchwLevel = 3;     // below it NNAPI knows NHWC only
constexpr int kHighestLevel = 8;  // for models that must be refused: never for their level

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CaseCheck {
 public:
  CaseCheck(OpCase& op_case, Golden golden, bool is_free = false)
      : case_(op_case), golden_(golden), is_free_(is_free), loaded_{op_case.file, make_case_module(op_case), {}} {}

  std::vector<std::string> run() {
    if (!case_.refusals.empty()) {
      for (const std::string& layout : case_.layouts) check_refused(layout);
      return std::move(problems_);
    }
    for (const std::string& layout : case_.layouts) {
      if (layout == "nchw" && case_.layouts.size() > 1 && !has_images()) continue;  // nothing differs
      layout_ = layout;
      // The model is the same in both: the shim runs it in one layout, but for models that only it can run.
      const bool is_first = layout == case_.layouts.front();
      if (runs_on(Runtime::kPytorch)) check_layout();
      if (!is_free_ && runs_on(Runtime::kShim) && (is_first || case_.runtime)) check_shim();
    }
    return std::move(problems_);
  }

 private:
  void problem(const std::string& text) {
    problems_.push_back(layout_ + (runtime_ == Runtime::kShim ? " shim: " : ": ") + text);
  }

  bool runs_on(Runtime runtime) const { return case_.runtime.value_or(runtime) == runtime; }
  bool is_first_layout() const { return layout_ == case_.layouts.front(); }

  bool has_images() const {
    return std::any_of(case_.inputs.begin(), case_.inputs.end(),
                       [](const CaseTensor& input) { return input.type.rank() == 4; });
  }

  std::vector<InputSpec> input_specs(bool flexible) const {
    std::vector<InputSpec> specs;
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      const TensorType& type = case_.inputs[i].type;
      InputSpec spec{case_.inputs[i].name, {}, type.dtype, type.quantization};
      for (size_t axis = 0; axis < type.rank(); ++axis) {
        const bool varies = flexible && case_.flexible.at(i).at(axis) != type.dims[axis].value();
        spec.sizes.push_back(varies ? std::nullopt : std::optional<int64_t>(type.dims[axis].fixed_value()));
      }
      specs.push_back(spec);
    }
    return specs;
  }

  Conversion convert_case(bool flexible, Diagnostics& diagnostics) {
    ConvertOptions options;
    options.inputs = input_specs(flexible);
    options.layout.nhwc = layout_ == "nhwc";
    options.layout.is_explicit = true;
    options.quant = case_.quant;
    options.runtime = runtime_;
    options.may_need_pytorch = true;  // PyTorch runs the module here
    options.control_flow = case_.control_flow;
    options.feature_level = layout_ == "nhwc" ? case_.level : std::max(case_.level, kNchwLevel);
    if (!case_.refusals.empty()) options.feature_level = kHighestLevel;
    if (flexible) options.feature_level = std::max(options.feature_level, kNchwLevel);
    options.on_dump = [this](const std::string& stage, const std::string& text) {
      if (stage == "optimise") dump_ = text;
    };
    return convert(loaded_, options, diagnostics);
  }

  void check_refused(const std::string& layout) {
    layout_ = layout;
    runtime_ = case_.runtime.value_or(Runtime::kPytorch);
    Diagnostics diagnostics;
    try {
      convert_case(false, diagnostics);
      problem("it converts, and should be refused");
    } catch (const ConvertError& error) {
      for (const std::string& part : case_.refusals) {
        if (!contains(error.what(), part)) problem(fmt::format("\"{}\" needed in the message: {}", part, error.what()));
      }
    }
  }

  void check_warnings(const Diagnostics& diagnostics) {
    const std::vector<std::string> warnings = messages_of(diagnostics.warnings);
    for (const std::string& warning : warnings) {
      const bool is_expected = std::any_of(case_.warnings.begin(), case_.warnings.end(),
                                           [&](const std::string& part) { return contains(warning, part); });
      if (!is_expected) problem("warning: " + warning);
    }
    for (const std::string& part : case_.warnings) {
      const bool came = std::any_of(warnings.begin(), warnings.end(),
                                    [&](const std::string& warning) { return contains(warning, part); });
      if (!came) problem(fmt::format("no warning with \"{}\"", part));
    }
  }

  void check_layout() {
    Diagnostics diagnostics;
    const Conversion conversion = convert_case(false, diagnostics);
    if (!is_free_) check_warnings(diagnostics);
    if (!is_free_ && is_first_layout()) {
      check_golden(case_.golden, "golden", dump_);
      check_level(conversion.segments.at(0).model);
    }
    for (const std::string& text :
         round_trip_problems(conversion.segments.at(0).model, conversion.segments.at(0).serialized))
      problem(text);
    check_litert(conversion);
    torch::jit::Module module = conversion.runnable_module();
    check_execution(module, false);
    if (!case_.flexible.empty()) check_flexible();
  }

  void check_litert(const Conversion& conversion) {
    if (layout_ != "nhwc") return;
    LitertCheck found = check_litert_file(conversion);
    for (const std::string& text : found.problems) problem(text);
    const bool is_own = case_.runtime || runtime_ == Runtime::kPytorch;
    if (!is_free_ && is_own && case_.litert_golden) {
      check_golden(*case_.litert_golden, "golden litert", found.dump);
    }
  }

  // The same case on the shim. One module serves all sizes.
  void check_shim() {
    runtime_ = Runtime::kShim;
    Diagnostics diagnostics;
    const Conversion conversion = convert_case(false, diagnostics);
    if (is_first_layout()) check_shim_model(conversion.segments.at(0).model, diagnostics);
    check_litert(conversion);
    torch::jit::Module module = conversion.runnable_module();
    check_execution(module, false);
    if (!case_.flexible.empty()) {
      torch::jit::Module flexible = convert_case(true, diagnostics).runnable_module();
      for (const bool other_size : {false, true}) check_execution(flexible, other_size);
    }
    runtime_ = Runtime::kPytorch;
  }

  // A model that both run has a golden section of its own only where the shim's differs.
  void check_shim_model(const nnapi::Model& model, const Diagnostics& diagnostics) {
    if (case_.runtime) {
      check_warnings(diagnostics);
      check_golden(case_.golden, "golden", dump_);
      return check_level(model);
    }
    check_golden(case_.shim_golden, "golden shim", dump_ == case_.golden ? "" : dump_);
    for (const std::string& text : nnapi::validate(model, case_.level)) {
      problem(fmt::format("at feature level {}: {}", case_.level, text));
    }
  }

  void check_golden(std::string& golden, const char* section, const std::string& found) {
    if (golden_ == Golden::kRebase) golden = found;
    if (golden_ == Golden::kIgnore || golden == found) return;
    problem(fmt::format("the section \"{}\" differs; --rebase writes this:\n{}", section, found));
  }

  // The level is the lowest one at which the model is valid.
  void check_level(const nnapi::Model& model) {
    for (const std::string& text : nnapi::validate(model, case_.level)) {
      problem(fmt::format("at feature level {}: {}", case_.level, text));
    }
    if (case_.level > 1 && nnapi::validate(model, case_.level - 1).empty()) {
      problem(fmt::format("valid at feature level {} already", case_.level - 1));
    }
  }

  c10::IValue run_module(torch::jit::Module& module, const std::vector<at::Tensor>& inputs) const {
    c10::InferenceMode guard;
    std::vector<c10::IValue> arguments;
    for (const at::Tensor& input : inputs) arguments.emplace_back(input.clone(at::MemoryFormat::Preserve));
    return module.forward(std::move(arguments));
  }

  c10::IValue run_original(const std::vector<at::Tensor>& inputs) {
    use_engine_of(case_);
    const c10::IValue result = run_module(loaded_.module, inputs);
    choose_quantised_engine();
    return result;
  }

  // The same values in another order in memory, which callers are free to use.
  static std::vector<at::Tensor> channels_last(const std::vector<at::Tensor>& inputs) {
    std::vector<at::Tensor> result;
    for (const at::Tensor& input : inputs) {
      result.push_back(input.dim() == 4 ? input.contiguous(at::MemoryFormat::ChannelsLast) : input);
    }
    return result;
  }

  void check_execution(torch::jit::Module& converted, bool flexible) {
    std::vector<c10::IValue> references;
    for (int sample = 0; sample < kSamples; ++sample) {
      const auto inputs = case_inputs(case_, static_cast<uint64_t>(sample + 1), flexible);
      references.push_back(run_original(inputs));
      const bool is_last = sample + 1 == kSamples;
      const c10::IValue found = run_module(converted, is_last ? channels_last(inputs) : inputs);
      const std::string text =
          difference(references.back(), found, {case_.tolerance, case_.quanta, is_free_ ? kLeastFreeRange : 0});
      if (!text.empty()) problem(fmt::format("sample {}{}: {}", sample, flexible ? ", flexible" : "", text));
    }
    if (is_free_) return;
    const std::string same = sameness(references[0], references[1]);
    if (!same.empty()) problem("the reference " + same + ": this tests nothing");
  }

  // One conversion with open sizes serves both sizes, in a fresh copy of the module each.
  void check_flexible() {
    Diagnostics diagnostics;
    const Conversion conversion = convert_case(true, diagnostics);
    if (conversion.segments.at(0).serialized.patches.empty()) problem("no size is flexible");
    for (const std::string& text :
         round_trip_problems(conversion.segments.at(0).model, conversion.segments.at(0).serialized))
      problem(text);
    for (const bool other_size : {false, true}) {
      torch::jit::Module module = conversion.runnable_module().deepcopy();
      check_execution(module, other_size);
    }
  }

  OpCase& case_;
  Golden golden_;
  Runtime runtime_ = Runtime::kPytorch;
  bool is_free_;  // no golden section, and a result that may be dull
  LoadedModel loaded_;
  std::string layout_;
  std::string dump_;  // of the last conversion, after the stage optimise
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check_case(OpCase& op_case, Golden golden) {
  try {
    return CaseCheck(op_case, golden).run();
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

FreeResult check_free_case(OpCase& op_case) {
  try {
    return {CaseCheck(op_case, Golden::kCompare, true).run(), ""};
  } catch (const ConvertError& error) {
    if (error.exit_code() == ExitCode::kNotConvertible) return {{}, error.what()};
    return {{error.what()}, ""};
  } catch (const std::exception& error) {
    return {{error.what()}, ""};
  }
}

}  // namespace nnapi_convert
