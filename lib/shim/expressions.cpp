// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/expressions.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

using format::ConditionKind;
using format::ExpressionKind;

// Returns the rank of each argument.
std::vector<uint32_t> argument_ranks(const int32_t* words, const BufferLayout& layout) {
  std::vector<uint32_t> ranks(layout.argument_count);
  size_t at = layout.arguments;
  for (uint32_t& rank : ranks) {
    rank = static_cast<uint32_t>(words[at]);
    at += 1 + rank;
  }
  return ranks;
}

}  // namespace

bool check_expressions(const int32_t* words, const BufferLayout& layout, nnapi_shim_error* error) {
  const std::vector<uint32_t> ranks = argument_ranks(words, layout);
  for (uint32_t i = 0; i < layout.expression_count; ++i) {
    const size_t at = layout.expressions + i * format::kExpressionWords;
    const auto a = static_cast<uint32_t>(words[at + 1]), b = static_cast<uint32_t>(words[at + 2]);
    switch (static_cast<ExpressionKind>(words[at])) {
      case ExpressionKind::kNumber:
        continue;
      case ExpressionKind::kSize:
        if (a >= ranks.size()) {
          return damaged(error, at + 1, "argument %u found in an expression, the model has %zu", a, ranks.size());
        }
        if (b >= ranks[a]) {
          return damaged(error, at + 2, "axis %u found in an expression, argument %u has rank %u", b, a, ranks[a]);
        }
        continue;
      case ExpressionKind::kSum:
      case ExpressionKind::kProduct:
      case ExpressionKind::kFloorDiv:
        if (a >= i) return damaged(error, at + 1, "expression %u found in expression %u, an earlier one needed", a, i);
        if (b >= i) return damaged(error, at + 2, "expression %u found in expression %u, an earlier one needed", b, i);
        continue;
    }
    return damaged(error, at, "expression kind %d found, 0 to 4 needed", words[at]);
  }
  return true;
}

int evaluate_expressions(const int32_t* words, const BufferLayout& layout, const nnapi_shim_shape* arguments,
                         std::vector<int64_t>* values, nnapi_shim_error* error) {
  values->resize(layout.expression_count);
  int64_t* const v = values->data();
  for (uint32_t i = 0; i < layout.expression_count; ++i) {
    const size_t at = layout.expressions + i * format::kExpressionWords;
    const auto a = static_cast<uint32_t>(words[at + 1]), b = static_cast<uint32_t>(words[at + 2]);
    bool is_known = true;
    switch (static_cast<ExpressionKind>(words[at])) {
      case ExpressionKind::kNumber:
        v[i] = static_cast<int64_t>(a | uint64_t{b} << 32);
        break;
      case ExpressionKind::kSize:
        v[i] = arguments[a].sizes[b];
        break;
      case ExpressionKind::kSum:
        is_known = !__builtin_add_overflow(v[a], v[b], &v[i]);
        break;
      case ExpressionKind::kProduct:
        is_known = !__builtin_mul_overflow(v[a], v[b], &v[i]);
        break;
      case ExpressionKind::kFloorDiv:
        is_known = v[b] > 0;
        if (is_known) v[i] = v[a] / v[b] - (v[a] % v[b] < 0 ? 1 : 0);
        break;
    }
    if (is_known) continue;
    return fail(
        error, NNAPI_SHIM_BAD_ARGUMENT,
        "a size of the model can't be computed for arguments of sizes %s: its expression %u divides by 0 or less "
        "or exceeds 64 bits; use other sizes",
        ShapesText(arguments, layout.argument_count).text, i);
  }
  return NNAPI_SHIM_OK;
}

bool check_conditions(const int32_t* words, const BufferLayout& layout, nnapi_shim_error* error) {
  for (const size_t at : layout.conditions) {
    if (words[at] < 0 || words[at] > static_cast<int32_t>(ConditionKind::kAtMost)) {
      return damaged(error, at, "condition kind %d found, 0 to %d needed", words[at],
                     static_cast<int32_t>(ConditionKind::kAtMost));
    }
    for (size_t side = at + 1; side <= at + 2; ++side) {
      if (static_cast<uint32_t>(words[side]) < layout.expression_count) continue;
      return damaged(error, side, "expression %u found, less than %u needed", static_cast<uint32_t>(words[side]),
                     layout.expression_count);
    }
    const auto* text = reinterpret_cast<const char*>(words + at + format::kConditionWords);
    const auto bytes = static_cast<size_t>(words[at + format::kConditionWords - 1]);
    const auto strings = std::count(text, text + bytes, '\0');
    const auto padding = text + (bytes + 3) / 4 * 4;
    if (strings == 2 && text[bytes - 1] == '\0' &&
        std::count(text + bytes, padding, '\0') == padding - (text + bytes)) {
      continue;
    }
    return damaged(error, at + format::kConditionWords, "text of a condition without two strings found");
  }
  return true;
}

int test_conditions(const int32_t* words, const BufferLayout& layout, const std::vector<int64_t>& values,
                    nnapi_shim_error* error) {
  for (const size_t at : layout.conditions) {
    const int64_t left = values[static_cast<uint32_t>(words[at + 1])];
    const int64_t right = values[static_cast<uint32_t>(words[at + 2])];
    const auto kind = static_cast<ConditionKind>(words[at]);
    if (kind == ConditionKind::kEqual ? left == right : kind == ConditionKind::kAtLeast ? left >= right : left <= right)
      continue;
    const auto* subject = reinterpret_cast<const char*>(words + at + format::kConditionWords);
    const char* needed = subject + std::strlen(subject) + 1;
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%.160s %lld found, %.160s needed", subject,
                static_cast<long long>(left), needed);
  }
  return NNAPI_SHIM_OK;
}

ShapesText::ShapesText(const nnapi_shim_shape* arguments, uint32_t count) : text() {
  size_t used = 0;
  const auto add = [&](const char* pattern, long long number) {
    if (used >= sizeof text) return;
    const int written = std::snprintf(text + used, sizeof text - used, pattern, number);
    if (written > 0) used += static_cast<size_t>(written);
  };
  for (uint32_t i = 0; i < count && used < sizeof text; ++i) {
    add(i == 0 ? "[" : ", [", 0);
    for (uint32_t axis = 0; axis < arguments[i].rank && used < sizeof text; ++axis) {
      add(axis == 0 ? "%lld" : ", %lld", arguments[i].sizes[axis]);
    }
    add("]", 0);
  }
}

}  // namespace nnapi_shim
