// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/frontend/export_guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {
namespace {

constexpr int kTrials = 200;
constexpr int64_t kSpan = 300;      // sizes that are tried lie within so many from the least
constexpr size_t kMostDepth = 200;  // of parentheses and signs
constexpr uint32_t kSeed = 20260;

// A size that a guard names: the path of an argument, as --input names it, and an axis.
struct SizeName {
  std::string path;
  size_t axis = 0;
};

struct NotRead {};

// Evaluates the text of a guard. Numbers are floats, which hold the sizes that are tried.
class GuardReader {
 public:
  using SizeOf = std::function<double(const SizeName&)>;

  GuardReader(std::string_view text, SizeOf size_of) : text_(text), size_of_(std::move(size_of)) {}

  // Throws NotRead.
  bool holds() {
    const double left = sum();
    const std::string_view comparison = first_of({"==", "!=", "<=", ">=", "<", ">"});
    const double right = sum();
    skip_spaces();
    if (comparison.empty() || at_ != text_.size()) throw NotRead();
    if (comparison == "==") return left == right;
    if (comparison == "!=") return left != right;
    if (comparison == "<=") return left <= right;
    if (comparison == ">=") return left >= right;
    return comparison == "<" ? left < right : left > right;
  }

 private:
  double sum() {
    double value = product();
    while (true) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = unary();
    while (true) {
      if (take("*")) {
        value *= unary();
      } else if (take("//")) {
        value = std::floor(value / divisor());
      } else if (take("/")) {
        value /= divisor();
      } else if (take("%")) {
        const double by = divisor();
        value -= std::floor(value / by) * by;
      } else {
        return value;
      }
    }
  }

  double divisor() {
    const double value = unary();
    if (value == 0) throw NotRead();
    return value;
  }

  double unary() {
    if (take("-")) return -negated();
    if (take("(")) return inside();
    if (take("torch.sym_max(")) return two(std::fmax);
    if (take("torch.sym_min(")) return two(std::fmin);
    if (take("torch.sym_float(")) return inside();
    if (take("math.ceil(")) return std::ceil(inside());
    if (take("math.floor(")) return std::floor(inside());
    if (take("math.trunc(")) return std::trunc(inside());
    if (take("L[")) return size_of_(size_name());
    return number();
  }

  double negated() {
    if (++depth_ > kMostDepth) throw NotRead();
    const double value = unary();
    --depth_;
    return value;
  }

  double inside() {
    if (++depth_ > kMostDepth) throw NotRead();
    const double value = sum();
    need(")");
    --depth_;
    return value;
  }

  double two(double (*combine)(double, double)) {
    const double first = sum();
    need(",");
    return combine(first, inside());
  }

  // 'x'].size()[1]: behind the name more keys may stand, as in 'pair'][0].size()[1].
  SizeName size_name() {
    SizeName name{key(), 0};
    while (take("[")) name.path += "[" + key() + "]";
    need(".size()[");
    name.axis = static_cast<size_t>(number());
    need("]");
    return name;
  }

  std::string key() {
    skip_spaces();
    const size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) throw NotRead();
    std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (found.size() > 1 && (found.front() == '\'' || found.front() == '"')) found = found.substr(1, found.size() - 2);
    return std::string(found);
  }

  double number() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      ++at_;
    constexpr size_t kMostDigits = 15;
    if (at_ == begin || at_ - begin > kMostDigits) throw NotRead();
    return std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr);
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view word) {
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    if (word == "/" && text_.substr(at_, 2) == "//") return false;
    at_ += word.size();
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) throw NotRead();
  }
  std::string_view first_of(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      if (take(word)) return word;
    }
    return "";
  }

  std::string_view text_;
  SizeOf size_of_;
  size_t at_ = 0, depth_ = 0;
};

class Conditions {
 public:
  Conditions(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names,
             const std::vector<TensorType>& types)
      : stated_(stated), names_(names), types_(types) {}

  std::vector<std::string> of(const std::vector<std::string>& guards) const {
    std::vector<std::string> result;
    for (const std::string& guard : guards) {
      if (!tells_apart(guard) && !always_holds(guard)) result.push_back(for_people(guard));
    }
    const auto is_shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
    std::stable_sort(result.begin(), result.end(), is_shorter);
    const std::vector<std::string> first = ranges();
    result.insert(result.begin(), first.begin(), first.end());
    return result;
  }

 private:
  const ExportedTensor::Size* stated_size(size_t input, size_t axis) const {
    const ExportedTensor* tensor = find_tensor(stated_, names_.at(input));
    return tensor == nullptr || axis >= tensor->sizes.size() ? nullptr : &tensor->sizes[axis];
  }

  // The ranges of sizes that each call chooses, where they leave out more than torch.export does by itself.
  std::vector<std::string> ranges() const {
    std::vector<std::string> result;
    for (size_t i = 0; i < types_.size(); ++i) {
      for (size_t axis = 0; axis < types_[i].dims.size(); ++axis) {
        const bool is_own = types_[i].dims[axis] == Dim::of_input(static_cast<int>(i), static_cast<int>(axis));
        const auto* size = is_own ? stated_size(i, axis) : nullptr;
        if (size == nullptr || size->least() == 1) continue;
        result.push_back(fmt::format("size {} of {} >= {}", axis, names_[i], size->least()));
      }
    }
    return result;
  }

  // torch.export notes of each product that it isn't 1, and of sizes that they differ: so they did in the example.
  static bool tells_apart(const std::string& guard) { return guard.find("!=") != std::string::npos; }

  bool always_holds(const std::string& guard) const {
    std::mt19937 random(kSeed);
    for (int trial = 0; trial < kTrials; ++trial) {
      std::map<OpenSize, int64_t> values;
      const auto value_of = [&](int input, int axis) {
        const auto [found, is_new] = values.try_emplace({input, axis}, 0);
        if (is_new) found->second = tried(input, axis, random);
        return found->second;
      };
      const auto size_of = [&](const SizeName& name) {
        const auto input = std::find(names_.begin(), names_.end(), name.path);
        if (input == names_.end()) throw NotRead();
        const Dims& dims = types_[static_cast<size_t>(input - names_.begin())].dims;
        if (name.axis >= dims.size()) throw NotRead();
        return static_cast<double>(dims[name.axis].evaluate(value_of));
      };
      try {
        if (!GuardReader(guard, size_of).holds()) return false;
      } catch (const NotRead&) {
        return true;
      }
    }
    return true;
  }

  int64_t tried(int input, int axis, std::mt19937& random) const {
    const auto* size = stated_size(static_cast<size_t>(input), static_cast<size_t>(axis));
    const int64_t least = std::max<int64_t>(size == nullptr ? 1 : size->min, 1);
    const int64_t most = size != nullptr && size->max ? std::min(*size->max, least + kSpan) : least + kSpan;
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(std::max<int64_t>(most - least + 1, 1)));
  }

  // "(L['x'].size()[1] % 2) == 0" becomes "(size 1 of x % 2) == 0".
  static std::string for_people(const std::string& guard) {
    std::string text;
    for (size_t at = 0; at < guard.size();) {
      const size_t begin = guard.find("L[", at), end = guard.find("].size()[", at);
      const size_t last = end == std::string::npos ? end : guard.find(']', end + std::strlen("].size()["));
      if (begin == std::string::npos || last == std::string::npos || end < begin) return text + guard.substr(at);
      std::string name = guard.substr(begin + 2, end - begin - 2);
      name.erase(std::remove(name.begin(), name.end(), '\''), name.end());
      const size_t first_key = name.find("][");
      for (size_t key = first_key; key != std::string::npos; key = name.find("][", key)) name.erase(key, 1);
      if (first_key != std::string::npos) name += "]";
      const size_t axis = end + std::strlen("].size()[");
      text += guard.substr(at, begin - at) + fmt::format("size {} of {}", guard.substr(axis, last - axis), name);
      at = last + 1;
    }
    return text;
  }

  const std::vector<ExportedTensor>& stated_;
  const std::vector<std::string>& names_;
  const std::vector<TensorType>& types_;
};

}  // namespace

std::vector<std::string> conditions_on_sizes(const std::vector<std::string>& guards,
                                             const std::vector<ExportedTensor>& stated,
                                             const std::vector<std::string>& names,
                                             const std::vector<TensorType>& types) {
  const bool is_open =
      std::any_of(types.begin(), types.end(), [](const TensorType& type) { return !all_fixed(type.dims); });
  return is_open ? Conditions(stated, names, types).of(guards) : std::vector<std::string>();
}

}  // namespace nnapi_convert
