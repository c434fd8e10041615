// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/signature.h"

#include <algorithm>

#include "lib/host_runtime/failure.h"

namespace nnapi_convert::host {
namespace {

// How many operands fit a signature, and why the next one does not.
struct Attempt {
  std::size_t depth = 0;
  std::string complaint;  // empty: it fits
};

using Combinations = std::vector<const TypeCombination*>;

bool has_variadic(const TableView<ArgumentInfo>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const ArgumentInfo& a) { return a.variadic; });
}

std::string count_complaint(const TableView<ArgumentInfo>& arguments, std::size_t found, const char* what) {
  const std::size_t most = arguments.size();
  const std::size_t least =
      std::count_if(arguments.begin(), arguments.end(), [](const auto& a) { return !a.optional; });
  if (found >= least && (found <= most || has_variadic(arguments))) return {};
  if (has_variadic(arguments)) return fmt::format(": {} {} found, at least {} needed", found, what, least);
  if (least == most) return fmt::format(": {} {} found, {} needed", found, what, most);
  return fmt::format(": {} {} found, {} to {} needed", found, what, least, most);
}

std::string types_of(const ArgumentInfo& argument, const Combinations& combinations) {
  std::string text;
  std::vector<OperandCode> seen;
  for (const TypeCombination* combination : combinations) {
    const OperandCode type = argument.type_in(*combination);
    if (std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
    seen.push_back(type);
    text += (text.empty() ? "" : " or ") + std::string(name_of(type));
  }
  return text;
}

class Matcher {
 public:
  Matcher(const Operation& operation, const std::vector<Operand>& operands, const SignatureInfo& signature)
      : operation_(operation), operands_(operands), signature_(signature) {}

  Attempt match() {
    for (const TypeCombination& combination : signature_.combinations) combinations_.push_back(&combination);
    attempt_.complaint = count_complaint(signature_.inputs, operation_.inputs.size(), "inputs");
    if (attempt_.complaint.empty()) {
      attempt_.complaint = count_complaint(signature_.outputs, operation_.outputs.size(), "outputs");
    }
    if (!attempt_.complaint.empty()) return attempt_;
    attempt_.depth = 1;
    if (take(signature_.inputs, operation_.inputs) && take(signature_.outputs, operation_.outputs)) check_level();
    return attempt_;
  }

 private:
  bool take(const TableView<ArgumentInfo>& arguments, const std::vector<uint32_t>& indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const ArgumentInfo& argument = arguments[argument_index(arguments, i, indices.size())];
      attempt_.complaint = argument_complaint(argument, operands_[indices[i]]);
      if (!attempt_.complaint.empty()) return false;
      ++attempt_.depth;
    }
    return true;
  }

  std::string argument_complaint(const ArgumentInfo& argument, const Operand& operand) {
    Combinations left;
    for (const TypeCombination* combination : combinations_) {
      if (argument.takes(operand.type, *combination)) left.push_back(combination);
    }
    if (left.empty()) {
      return fmt::format(", argument {}: {} found, {} needed", argument.name, name_of(operand.type),
                         types_of(argument, combinations_));
    }
    if (argument.since > operation_.feature_level) {
      return fmt::format(", argument {}: needs feature level {}, {} is offered", argument.name, argument.since,
                         operation_.feature_level);
    }
    combinations_ = left;
    return argument.omittable ? "" : rank_complaint(argument, operand.shape);
  }

  void check_level() {
    int32_t since = kHighestFeatureLevel;
    for (const TypeCombination* combination : combinations_) since = std::min(since, combination->since);
    since = std::max(since, signature_.since);
    if (since <= operation_.feature_level) return;
    attempt_.complaint = fmt::format(": on {} it needs feature level {}, {} is offered",
                                     types_of(signature_.outputs[0], combinations_), since, operation_.feature_level);
  }

  const Operation& operation_;
  const std::vector<Operand>& operands_;
  const SignatureInfo& signature_;
  Combinations combinations_;
  Attempt attempt_;
};

}  // namespace

std::string subject_of(const Operation& operation) {
  return fmt::format("operation {} ({})", operation.index, name_of(operation.code));
}

std::string rank_complaint(const ArgumentInfo& argument, const Shape& shape) {
  if (argument.max_rank == 0 || !shape.rank_known) return {};
  const std::size_t rank = shape.dims.size();
  if (rank >= argument.min_rank && (argument.max_rank == kAnyRank || rank <= argument.max_rank)) return {};
  if (argument.max_rank == kAnyRank) {
    return fmt::format(", argument {}: rank {} found, at least {} needed", argument.name, rank, argument.min_rank);
  }
  if (argument.min_rank == argument.max_rank) {
    return fmt::format(", argument {}: rank {} found, {} needed", argument.name, rank, argument.min_rank);
  }
  return fmt::format(", argument {}: rank {} found, {} to {} needed", argument.name, rank, argument.min_rank,
                     argument.max_rank);
}

std::size_t argument_index(const TableView<ArgumentInfo>& arguments, std::size_t position, std::size_t count) {
  const std::size_t extra = count > arguments.size() ? count - arguments.size() : 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t repeats = arguments[i].variadic ? 1 + extra : 1;
    if (position < repeats) return i;
    position -= repeats;
  }
  return arguments.size() - 1;
}

const SignatureInfo* match_signature(const Operation& operation, const std::vector<Operand>& operands) {
  const OperationInfo* info = find_operation(operation.code);
  Attempt best;
  for (const SignatureInfo& signature : info->signatures) {
    Attempt attempt = Matcher(operation, operands, signature).match();
    if (attempt.complaint.empty()) return &signature;
    if (best.complaint.empty() || attempt.depth > best.depth) best = std::move(attempt);
  }
  bad_data("{}{}", subject_of(operation), best.complaint);
}

}  // namespace nnapi_convert::host
