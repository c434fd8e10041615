// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/random_case.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>

#include <optional>
#include <sstream>

#include "tests/ops/case_module.h"
#include "tests/ops/random_steps.h"

namespace nnapi_convert {
namespace {

constexpr int kAttempts = 12;
constexpr int64_t kMaxElements = 20000;
constexpr double kMaxValue = 1e3;
constexpr double kLeastRange = 1e-2;  // of the largest value: below it, errors of rounding fill the range

class Growing {
 public:
  explicit Growing(uint64_t seed) : steps_(seed) {
    case_.file = "random";
    case_.name = fmt::format("seed_{}", seed);
    static const int levels[] = {3, 3, 3, 4, 6, 7, 8};
    case_.level = levels[steps_.number(0, 6)];
    case_.inputs.push_back({"x", input_type(), std::nullopt});
  }

  OpCase grow() {
    const int64_t wanted = steps_.number(1, 4);
    sizes_ = fixed_values(case_.inputs[0].type.dims);
    for (int attempt = 0; attempt < kAttempts && static_cast<int64_t>(statements_.size()) < wanted; ++attempt)
      try_step();
    if (statements_.empty()) add("torch.tanh(x)");
    case_.source = source(statements_);
    if (statements_.size() > 1) case_.quanta = 3.0 * static_cast<double>(statements_.size()) * finer_steps();
    if (is_quantized()) case_.engine = "onednn";  // qnnpack ignores count_include_pad
    if (steps_.chance(0.25) && can_be_open()) open_sizes();
    write_lines();
    return std::move(case_);
  }

 private:
  TensorType input_type() {
    const int64_t rank = steps_.chance(0.5) ? 4 : steps_.number(1, 5);
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < rank; ++i) sizes.push_back(steps_.number(2, 7));
    if (rank > 2 && steps_.chance(0.6)) sizes[0] = 1;
    if (!steps_.chance(0.15)) return {at::kFloat, to_dims(sizes), {}};
    return {at::kQUInt8, to_dims(sizes), {0.05, steps_.number(60, 180)}};
  }

  std::string value() const { return statements_.empty() ? "x" : fmt::format("v{}", statements_.size() - 1); }
  bool is_quantized() const { return case_.inputs[0].type.is_quantized() && !is_float_again_; }

  // A flexible axis has to be longer than what it is rolled by.
  bool can_be_open() const {
    return std::none_of(statements_.begin(), statements_.end(),
                        [](const std::string& statement) { return statement.rfind("torch.roll(", 0) == 0; });
  }

  // What one step of a value becomes in the finer ones of later results: 0.07 at most in 1/128 or, a quarter as steep,
  // in 1/256.
  double finer_steps() const {
    double most = 1;
    for (size_t i = 1; i < statements_.size(); ++i) {
      if (statements_[i].rfind("torch.tanh(", 0) == 0) most = std::max(most, 0.07 * 128);
      if (statements_[i].rfind("torch.sigmoid(", 0) == 0) most = std::max(most, 0.07 / 4 * 256);
    }
    return most;
  }

  static std::string source(const std::vector<std::string>& statements) {
    std::string text = "def forward(self, x: Tensor) -> Tensor:\n";
    for (size_t i = 0; i < statements.size(); ++i) text += fmt::format("  v{} = {}\n", i, statements[i]);
    return text + fmt::format("  return v{}\n", statements.size() - 1);
  }

  void add(const std::string& expression) { statements_.push_back(expression); }

  void try_step() {
    std::vector<RandomSteps::Weight> weights;
    for (const CaseTensor& known : case_.weights) weights.push_back({known.name, fixed_values(known.type.dims)});
    const size_t had = weights.size();
    // Later, what was rounded differently would be computed with.
    const bool dequantizes = is_quantized() && statements_.empty() && steps_.chance(0.2);
    std::string expression = dequantizes      ? fmt::format("torch.dequantize({})", value())
                             : is_quantized() ? steps_.draw_quantized(value(), sizes_)
                                              : steps_.draw(value(), sizes_, weights);
    if (expression.empty()) return;
    OpCase trial = case_;
    for (size_t i = had; i < weights.size(); ++i) {
      trial.weights.push_back({weights[i].name, {at::kFloat, to_dims(weights[i].sizes), {}}, std::nullopt});
    }
    std::vector<std::string> statements = statements_;
    statements.push_back(expression);
    trial.source = source(statements);
    const auto result = run(trial, false);
    if (!result || result->is_quantized() != (is_quantized() && !dequantizes)) return;
    case_ = trial;
    statements_ = statements;
    sizes_ = result->sizes().vec();
    is_float_again_ = is_float_again_ || dequantizes;
  }

  // What PyTorch gives for a trial; nullopt if it refuses, or gives what no comparison can be made with.
  static std::optional<at::Tensor> run(const OpCase& trial, bool flexible) {
    try {
      const c10::InferenceMode guard;
      torch::jit::Module module = make_case_module(trial);
      std::optional<at::Tensor> last;
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        const at::Tensor input = case_inputs(trial, seed, flexible).at(0);
        last = module.forward({input}).toTensor();
        if (!is_comparable(*last)) return std::nullopt;
      }
      return last;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  static bool is_comparable(const at::Tensor& tensor) {
    if (tensor.numel() == 0 || tensor.numel() > kMaxElements || tensor.dim() > 4) return false;
    if (tensor.is_quantized()) return true;
    if (tensor.scalar_type() != at::kFloat || !tensor.isfinite().all().item().toBool()) return false;
    const double largest = tensor.abs().max().item().toDouble();
    const double range = tensor.numel() == 1 ? largest : (tensor.max() - tensor.min()).item().toDouble();
    return largest < kMaxValue && range > kLeastRange * largest && range > kLeastRange;
  }

  // Some of the input's sizes are left open, if the model runs with other ones too.
  void open_sizes() {
    std::vector<int64_t> other = fixed_values(case_.inputs[0].type.dims);
    for (int64_t& size : other) {
      if (steps_.chance(0.4)) size += steps_.number(1, 3);
    }
    if (other == fixed_values(case_.inputs[0].type.dims)) return;
    case_.flexible = {other};
    if (!run(case_, true)) case_.flexible.clear();
  }

  // The case as a file has it.
  void write_lines() {
    const TensorType& type = case_.inputs[0].type;
    std::string spec = fmt::format("{}", fmt::join(fixed_values(type.dims), ","));
    if (type.is_quantized())
      spec += fmt::format(":quint8:{}:{}", type.quantization.scale, type.quantization.zero_point);
    case_.lines = {"case " + case_.name, "input x " + spec};
    for (const CaseTensor& weight : case_.weights) {
      case_.lines.push_back(fmt::format("weight {} {}", weight.name, fmt::join(fixed_values(weight.type.dims), ",")));
    }
    case_.lines.push_back(fmt::format("level {}", case_.level));
    if (case_.engine != "qnnpack") case_.lines.push_back("engine " + case_.engine);
    if (case_.quanta != 1) case_.lines.push_back(fmt::format("quanta {}", case_.quanta));
    if (!case_.flexible.empty()) case_.lines.push_back(fmt::format("flexible {}", fmt::join(case_.flexible[0], ",")));
    case_.lines.emplace_back("source");
    std::istringstream lines(case_.source);
    for (std::string line; std::getline(lines, line);) case_.lines.push_back("  " + line);
  }

  RandomSteps steps_;
  OpCase case_;
  std::vector<std::string> statements_;
  std::vector<int64_t> sizes_;
  bool is_float_again_ = false;
};

}  // namespace

OpCase random_case(uint64_t seed) {
  return Growing(seed).grow();
}

}  // namespace nnapi_convert
