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

#include "lib/base/error.h"
#include "lib/converter/graph/open_sizes.h"

namespace nnapi_convert {
namespace {

constexpr int kTrials = 200;
constexpr int64_t kSpan = 300;      // sizes that are tried are at most so much above the least
constexpr size_t kMostDepth = 200;  // levels of parentheses and signs
constexpr uint32_t kSeed = 20260;
constexpr size_t kMostChecked = 32;  // guards that a file checks
constexpr size_t kMostBytes = 1000;  // longest guard that a file checks

// A size that a guard names: the path of an argument, as --input names it, and an axis.
struct SizeName {
  std::string path;
  size_t axis = 0;
};

struct NotRead {};

// Computes guards for sizes that are known. Numbers are floats, which hold the sizes that are tried.
struct KnownSizes {
  using Value = double;
  std::function<double(const SizeName&)> size_of;

  Value size(const SizeName& name) const { return size_of(name); }
  static Value number(const std::string& digits) { return std::strtod(digits.c_str(), nullptr); }
  static Value sum(Value a, Value b) { return a + b; }
  static Value product(Value a, Value b) { return a * b; }
  static Value quotient(Value a, Value b) { return a / divisor(b); }
  static Value floor_quotient(Value a, Value b) { return std::floor(a / divisor(b)); }
  static Value larger(Value a, Value b) { return std::fmax(a, b); }
  static Value smaller(Value a, Value b) { return std::fmin(a, b); }
  static Value ceil(Value a) { return std::ceil(a); }
  static Value floor(Value a) { return std::floor(a); }
  static Value trunc(Value a) { return std::trunc(a); }

 private:
  static Value divisor(Value value) { return value == 0 ? throw NotRead() : value; }
};

// Computes guards as expressions over sizes, which the converted file can check. Only guards of whole numbers have one.
struct OpenSizes {
  using Value = Dim;
  std::function<Dim(const SizeName&)> size_of;
  int products = 0;

  Value size(const SizeName& name) const { return size_of(name); }
  static Value number(const std::string& digits) {
    constexpr size_t kMostDigits = 9;
    if (digits.size() > kMostDigits || digits.find('.') != std::string::npos) throw NotRead();
    return std::strtoll(digits.c_str(), nullptr, 10);
  }
  static Value sum(const Value& a, const Value& b) { return a + b; }
  // Throws NotRead after a few products: a product of many sums would have a term for each combination.
  Value product(const Value& a, const Value& b) {
    constexpr int kMostProducts = 4;
    if (!a.is_fixed() && !b.is_fixed() && ++products > kMostProducts) throw NotRead();
    return a * b;
  }
  static Value quotient(const Value& a, const Value& b) {
    const auto exact = b == Dim(0) ? std::nullopt : a.exact_div(b);
    return exact ? *exact : throw NotRead();
  }
  static Value floor_quotient(const Value& a, const Value& b) {
    return b.is_fixed() && b.value() > 0 ? a.floor_div(b.value()) : throw NotRead();
  }
  [[noreturn]] static Value larger(const Value& /*a*/, const Value& /*b*/) { throw NotRead(); }
  [[noreturn]] static Value smaller(const Value& /*a*/, const Value& /*b*/) { throw NotRead(); }
  static Value ceil(const Value& a) { return a; }
  static Value floor(const Value& a) { return a; }
  static Value trunc(const Value& a) { return a; }
};

// Reads the text of a guard, and computes its two sides.
template <typename Arithmetic>
class GuardReader {
 public:
  using Value = typename Arithmetic::Value;
  struct Comparison {
    std::string_view kind;  // "==", "!=", "<=", ">=", "<" or ">"
    Value left, right;
  };

  GuardReader(std::string_view text, Arithmetic arithmetic) : text_(text), arithmetic_(std::move(arithmetic)) {}

  // Returns the comparison. Throws NotRead for a text that this reader doesn't know.
  Comparison read() {
    Value left = sum();
    const std::string_view kind = first_of({"==", "!=", "<=", ">=", "<", ">"});
    Value right = sum();
    skip_spaces();
    if (kind.empty() || at_ != text_.size()) throw NotRead();
    return {kind, std::move(left), std::move(right)};
  }

 private:
  Value sum() {
    Value value = product();
    while (true) {
      if (take("+")) {
        value = arithmetic_.sum(value, product());
      } else if (take("-")) {
        value = minus(value, product());
      } else {
        return value;
      }
    }
  }

  Value product() {
    Value value = unary();
    while (true) {
      if (take("*")) {
        value = arithmetic_.product(value, unary());
      } else if (take("//")) {
        value = arithmetic_.floor_quotient(value, unary());
      } else if (take("/")) {
        value = arithmetic_.quotient(value, unary());
      } else if (take("%")) {
        const Value by = unary();
        value = minus(value, arithmetic_.product(arithmetic_.floor_quotient(value, by), by));
      } else {
        return value;
      }
    }
  }

  Value minus(const Value& a, const Value& b) { return arithmetic_.sum(a, arithmetic_.product(b, Value(-1))); }

  Value unary() {
    if (take("-")) return minus(Value(0), negated());
    if (take("(")) return inside();
    if (take("torch.sym_max(")) return two([this](auto& a, auto& b) { return arithmetic_.larger(a, b); });
    if (take("torch.sym_min(")) return two([this](auto& a, auto& b) { return arithmetic_.smaller(a, b); });
    if (take("torch.sym_float(")) return inside();
    if (take("math.ceil(")) return arithmetic_.ceil(inside());
    if (take("math.floor(")) return arithmetic_.floor(inside());
    if (take("math.trunc(")) return arithmetic_.trunc(inside());
    if (take("L[")) return arithmetic_.size(size_name());
    return arithmetic_.number(digits());
  }

  Value negated() {
    if (++depth_ > kMostDepth) throw NotRead();
    Value value = unary();
    --depth_;
    return value;
  }

  Value inside() {
    if (++depth_ > kMostDepth) throw NotRead();
    Value value = sum();
    need(")");
    --depth_;
    return value;
  }

  template <typename Combine>
  Value two(const Combine& combine) {
    const Value first = sum();
    need(",");
    const Value second = inside();
    return combine(first, second);
  }

  // Reads 'x'].size()[1]. More keys may stand behind the name, as in 'pair'][0].size()[1].
  SizeName size_name() {
    SizeName name{key(), 0};
    while (take("[")) name.path += "[" + key() + "]";
    need(".size()[");
    name.axis = static_cast<size_t>(std::strtoull(digits().c_str(), nullptr, 10));
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

  std::string digits() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      ++at_;
    constexpr size_t kMostDigits = 15;
    if (at_ == begin || at_ - begin > kMostDigits) throw NotRead();
    return std::string(text_.substr(begin, at_ - begin));
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
  Arithmetic arithmetic_;
  size_t at_ = 0, depth_ = 0;
};

bool holds(const GuardReader<KnownSizes>::Comparison& guard) {
  if (guard.kind == "==") return guard.left == guard.right;
  if (guard.kind == "!=") return guard.left != guard.right;
  if (guard.kind == "<=") return guard.left <= guard.right;
  if (guard.kind == ">=") return guard.left >= guard.right;
  return guard.kind == "<" ? guard.left < guard.right : guard.left > guard.right;
}

// Returns the guard as a condition: a size by itself stands on the left, and what it is compared with on the right.
SizeCondition condition_of(GuardReader<OpenSizes>::Comparison guard) {
  using Kind = SizeCondition::Kind;
  SizeCondition condition{Kind::kEqual, std::move(guard.left), std::move(guard.right)};
  if (guard.kind == ">" || guard.kind == ">=") condition.kind = Kind::kAtLeast;
  if (guard.kind == "<" || guard.kind == "<=") condition.kind = Kind::kAtMost;
  if (guard.kind == ">") condition.right += Dim(1);
  if (guard.kind == "<") condition.right += Dim(-1);
  const bool is_own = condition.left.input_size() || condition.right.input_size();
  for (const OpenSize& each : is_own ? std::set<OpenSize>() : open_sizes_in(condition.left)) {
    // Moves all but the size to the right: x - 2 * (x // 2) == 0 becomes x == 2 * (x // 2).
    const Dim size = to_dim(each), rest = condition.left - size;
    const size_t term = size.text().size() + std::strlen(" + ");
    if (rest.text().size() + term > condition.left.text().size()) continue;  // it is no term by itself
    condition.left = size;
    condition.right = condition.right - rest;
    break;
  }
  const bool is_turned = condition.left.is_fixed() || (!condition.left.input_size() && condition.right.input_size());
  if (!is_turned) return condition;
  std::swap(condition.left, condition.right);
  if (condition.kind != Kind::kEqual)
    condition.kind = condition.kind == Kind::kAtLeast ? Kind::kAtMost : Kind::kAtLeast;
  return condition;
}

class Conditions {
 public:
  Conditions(const std::vector<ExportedTensor>& stated, const std::vector<std::string>& names,
             const std::vector<TensorType>& types)
      : stated_(stated), names_(names), types_(types) {}

  GuardConditions of(const std::vector<std::string>& guards) const {
    GuardConditions result;
    for (const std::string& guard : guards) {
      if (tells_apart(guard) || always_holds(guard)) continue;
      const std::optional<SizeCondition> condition = checked(guard);
      if (condition && result.checked.size() < kMostChecked) {
        result.checked.push_back(*condition);
      } else {
        result.told.push_back(for_people(guard));
      }
    }
    const auto is_shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
    std::stable_sort(result.told.begin(), result.told.end(), is_shorter);
    return result;
  }

 private:
  const ExportedTensor::Size* stated_size(size_t input, size_t axis) const {
    const ExportedTensor* tensor = find_tensor(stated_, names_.at(input));
    return tensor == nullptr || axis >= tensor->sizes.size() ? nullptr : &tensor->sizes[axis];
  }

  const Dim& size_named(const SizeName& name) const {
    const auto input = std::find(names_.begin(), names_.end(), name.path);
    if (input == names_.end()) throw NotRead();
    const Dims& dims = types_[static_cast<size_t>(input - names_.begin())].dims;
    return name.axis < dims.size() ? dims[name.axis] : throw NotRead();
  }

  // Returns the guard as a condition; nothing if no expression over sizes says it, or if it compares numbers only.
  std::optional<SizeCondition> checked(const std::string& guard) const {
    if (guard.size() > kMostBytes) return std::nullopt;
    try {
      const OpenSizes arithmetic{[this](const SizeName& name) { return size_named(name); }};
      SizeCondition condition = condition_of(GuardReader(guard, arithmetic).read());
      if (!condition.left.is_fixed()) return condition;
    } catch (const NotRead&) {       // max(a, b), or a size divided by a size
    } catch (const ConvertError&) {  // more than 64 bits
    }
    return std::nullopt;
  }

  // True for a guard with !=. torch.export notes of each product that it isn't 1, and of sizes that they differ,
  // because they did in the example.
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
      const KnownSizes arithmetic{
          [&](const SizeName& name) { return static_cast<double>(size_named(name).evaluate(value_of)); }};
      try {
        if (!holds(GuardReader(guard, arithmetic).read())) return false;
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
    constexpr uint32_t kShareOfLeast = 4;  // one of so many
    if (random() % kShareOfLeast == 0) return least;
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(std::max<int64_t>(most - least + 1, 1)));
  }

  // Returns a guard in words: "(L['x'].size()[1] % 2) == 0" becomes "(size 1 of x % 2) == 0".
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

GuardConditions conditions_of(const std::vector<std::string>& guards, const std::vector<ExportedTensor>& stated,
                              const std::vector<std::string>& names, const std::vector<TensorType>& types) {
  const bool is_open =
      std::any_of(types.begin(), types.end(), [](const TensorType& type) { return !all_fixed(type.dims); });
  return is_open ? Conditions(stated, names, types).of(guards) : GuardConditions();
}

}  // namespace nnapi_convert
