// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/int8_choice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/nnapi/validate.h"
#include "lib/quantise/host_model.h"

namespace nnapi_convert::quantise {
namespace {

constexpr size_t kMostTrials = 30;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Calls visit(index, number) for each element of an output that holds numbers; returns false for another type.
template <typename Visit>
bool for_each_number(OperandCode type, const Bytes& bytes, Visit visit) {
  if (type == OperandCode::TENSOR_FLOAT32) {
    for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
      float number;
      std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
      visit(i, static_cast<double>(number));
    }
    return true;
  }
  if (!nnapi::is_quant8(type)) return false;
  const bool is_signed = type == OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
  for (size_t i = 0; i < bytes.size(); ++i) {
    visit(i, static_cast<double>(is_signed ? static_cast<int8_t>(bytes[i]) : bytes[i]));
  }
  return true;
}

// The results of one output with float weights, on all samples, and their range.
class Expected {
 public:
  Expected(OperandCode type, size_t element_bytes) : type_(type), element_bytes_(element_bytes) {}

  void add(const Bytes& bytes) {
    results_.push_back(bytes);
    for_each_number(type_, bytes, [&](size_t, double number) {
      if (!std::isfinite(number)) return;
      lowest_ = std::min(lowest_, number);
      highest_ = std::max(highest_, number);
    });
  }

  // Returns the error of the result of sample `number`. Skips numbers that aren't finite with float weights.
  double error_of(size_t number, const Bytes& found) const {
    const Bytes& expected = results_[number];
    if (found.size() != expected.size() || found.empty()) return found.size() == expected.size() ? 0 : kInfinity;
    std::vector<double> numbers;
    if (!for_each_number(type_, expected, [&](size_t, double each) { numbers.push_back(each); })) {
      return share_of_others(expected, found);
    }
    double most = 0;
    for_each_number(type_, found, [&](size_t i, double each) {
      if (!std::isfinite(numbers[i])) return;
      most = std::isfinite(each) ? std::max(most, std::fabs(each - numbers[i])) : kInfinity;
    });
    // A constant output has no range; its size is taken instead.
    const double range = highest_ > lowest_ ? highest_ - lowest_ : std::max(std::fabs(highest_), 1e-30);
    return most / range;
  }

 private:
  double share_of_others(const Bytes& expected, const Bytes& found) const {
    size_t others = 0;
    for (size_t at = 0; at < found.size(); at += element_bytes_) {
      others += std::memcmp(expected.data() + at, found.data() + at, element_bytes_) != 0 ? 1 : 0;
    }
    return static_cast<double>(others) / static_cast<double>(found.size() / element_bytes_);
  }

  OperandCode type_;
  size_t element_bytes_;
  std::vector<Bytes> results_;  // by sample
  double lowest_ = kInfinity, highest_ = -kInfinity;
};

// Runs the model with some of its candidates stored as int8. Unless a choice is kept, the model gets its float weights
// back.
class Trials {
 public:
  Trials(nnapi::Model& model, const std::vector<Int8Candidate>& candidates, const std::vector<Dims>& arguments,
         int feature_level, const std::vector<KeptSample>& samples)
      : model_(model),
        candidates_(candidates),
        arguments_(arguments),
        feature_level_(feature_level),
        samples_(samples) {
    for (const Int8Candidate& each : candidates) floats_.push_back(each.model->at(each.operand).value);
    for (const nnapi::Boundary& output : model.outputs) {
      const OperandCode type = model.at(output.operand).type;
      expected_.emplace_back(type, static_cast<size_t>(nnapi::element_size(type)));
    }
  }
  ~Trials() {
    if (!is_kept_) store(std::vector<bool>(candidates_.size(), false));
  }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  void run_floats() {
    HostModel host(model_, arguments_, feature_level_);
    for (const KeptSample& sample : samples_) {
      const std::vector<Bytes>& results = host.run(sample.sample());
      for (size_t i = 0; i < expected_.size(); ++i) expected_[i].add(results[i]);
    }
  }

  double error_of(const std::vector<bool>& is_int8) {
    ++count_;
    store(is_int8);
    HostModel host(model_, arguments_, feature_level_);
    double error = 0;
    for (size_t number = 0; number < samples_.size() && error <= kMostInt8Error; ++number) {
      const std::vector<Bytes>& results = host.run(samples_[number].sample());
      for (size_t i = 0; i < expected_.size(); ++i) error = std::max(error, expected_[i].error_of(number, results[i]));
    }
    return error;
  }

  void keep(const std::vector<bool>& is_int8) {
    store(is_int8);
    is_kept_ = true;
  }

  size_t count() const { return count_; }

 private:
  void store(const std::vector<bool>& is_int8) {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      nnapi::Operand& operand = candidates_[i].model->at(candidates_[i].operand);
      operand.value = floats_[i];
      operand.channels = nullptr;
      if (is_int8[i]) store_as_int8(candidates_[i]);
    }
  }

  nnapi::Model& model_;
  const std::vector<Int8Candidate>& candidates_;
  const std::vector<Dims>& arguments_;
  const int feature_level_;
  const std::vector<KeptSample>& samples_;
  std::vector<nnapi::OperandValue> floats_;
  std::vector<Expected> expected_;
  size_t count_ = 0;
  bool is_kept_ = false;
};

// Returns the candidates, least rounding noise per element first.
std::vector<size_t> in_order(const std::vector<Int8Candidate>& candidates) {
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto cost = [&](size_t i) {
    return candidates[i].weight.noise / static_cast<double>(candidates[i].element_count());
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost(a) < cost(b); });
  return order;
}

// Stores as many of `order`, from `begin` on, as int8 as keep the error small enough; returns how many.
size_t add_most(Trials& trials, const std::vector<size_t>& order, size_t begin, Int8Choice& choice) {
  const auto with = [&](size_t end) {
    std::vector<bool> is_int8 = choice.is_int8;
    for (size_t i = begin; i < end; ++i) is_int8[order[i]] = true;
    return is_int8;
  };
  size_t holds = begin, fails = order.size() + 1;
  for (size_t next = order.size(); holds + 1 < fails && trials.count() < kMostTrials; next = (holds + fails) / 2) {
    const double error = trials.error_of(with(next));
    if (error > kMostInt8Error) {
      fails = next;
      continue;
    }
    holds = next;
    choice.error = error;
  }
  choice.is_int8 = with(holds);
  return holds - begin;
}

}  // namespace

Int8Choice choose_int8(nnapi::Model& model, const std::vector<Int8Candidate>& candidates,
                       const std::vector<Dims>& arguments, int feature_level, const std::vector<KeptSample>& samples) {
  constexpr size_t kMostLeftOut = 3;  // candidates that are worse than their rounding errors suggest
  Int8Choice choice{std::vector<bool>(candidates.size(), false)};
  if (candidates.empty()) return choice;
  Trials trials(model, candidates, arguments, feature_level, samples);
  trials.run_floats();
  const std::vector<size_t> order = in_order(candidates);
  size_t at = 0;
  for (size_t left_out = 0; at < order.size() && left_out <= kMostLeftOut; ++left_out, ++at) {
    at += add_most(trials, order, at, choice);
  }
  trials.keep(choice.is_int8);
  return choice;
}

}  // namespace nnapi_convert::quantise
