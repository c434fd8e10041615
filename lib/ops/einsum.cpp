// SPDX-License-Identifier: BSD-3-Clause
// einsum of one or two operands, brought to a product of matrices: [batch, left's own, shared] by [batch, right's own,
// shared].
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lib/ops/families.h"
#include "lib/ops/matmul.h"
#include "lib/ops/shape_rules.h"

namespace nnapi_convert {
namespace {

struct Equation {
  std::vector<std::string> operands;  // a letter for each axis
  std::string result;
};

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

// Replaces "..." by digits, one for each of its axes, the last ones of "0123": digits are no letters of an equation.
std::string with_ellipsis(const OpArguments& args, const std::string& letters, size_t rank) {
  const size_t dots = letters.find("...");
  if (dots == std::string::npos) return letters;
  const size_t named = letters.size() - 3;
  args.require(named <= rank && rank - named <= 4, fmt::format("{} for a tensor of rank {}", letters, rank),
               "an axis for each letter");
  return letters.substr(0, dots) + std::string("0123").substr(4 - (rank - named)) + letters.substr(dots + 3);
}

// Returns the result's letters for an equation without an arrow: those that occur once, sorted.
std::string implied_result(const std::vector<std::string>& operands) {
  std::map<char, int> counts;
  for (const std::string& operand : operands) {
    for (const char letter : operand) ++counts[letter];
  }
  std::string result;
  for (const auto& [letter, count] : counts) {
    if (count == 1 || letter <= '9') result += letter;
  }
  return result;
}

Equation read_equation(const OpArguments& args, const std::vector<TensorType>& tensors) {
  const std::string text = without_spaces(args.string("equation"));
  const size_t arrow = text.find("->");
  std::string rest = text.substr(0, arrow) + ",";
  Equation equation;
  size_t longest_ellipsis = 0;
  for (size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
    const std::string letters = rest.substr(0, comma);
    rest.erase(0, comma + 1);
    const size_t number = equation.operands.size();
    args.require(number < tensors.size(), fmt::format("{} for {} tensors", text, tensors.size()), "as many operands");
    equation.operands.push_back(with_ellipsis(args, letters, tensors[number].rank()));
    const bool has_ellipsis = letters.find("...") != std::string::npos;
    if (has_ellipsis) longest_ellipsis = std::max(longest_ellipsis, tensors[number].rank() - (letters.size() - 3));
    args.require(equation.operands.back().size() == tensors[number].rank(),
                 fmt::format("{} for a tensor {}", letters, to_text(tensors[number])), "an axis for each letter");
  }
  args.require(equation.operands.size() == tensors.size(), fmt::format("{} for {} tensors", text, tensors.size()),
               "as many operands");
  if (arrow == std::string::npos) {
    equation.result = implied_result(equation.operands);
  } else {
    const std::string result = text.substr(arrow + 2);
    const size_t dots = result.find("...");
    equation.result =
        dots == std::string::npos ? result : with_ellipsis(args, result, result.size() - 3 + longest_ellipsis);
  }
  return equation;
}

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

void require_supported(const OpArguments& args, const Equation& equation) {
  const std::string text = args.string("equation");
  args.require(equation.operands.size() <= 2, fmt::format("{} with {} operands", text, equation.operands.size()),
               "1 or 2", "write it as several einsums");
  for (const std::string& operand : equation.operands) {
    for (const char letter : operand) {
      args.require(std::count(operand.begin(), operand.end(), letter) == 1,
                   fmt::format("{} takes a diagonal along {}", text, letter), "each letter once in an operand",
                   "take the diagonal with an index before");
    }
  }
}

// Returns the size of each letter; refuses sizes that differ, size 1 against another included.
std::map<char, Dim> sizes_of(const OpArguments& args, const Equation& equation,
                             const std::vector<TensorType>& tensors) {
  std::map<char, Dim> sizes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t axis = 0; axis < tensors[i].rank(); ++axis) {
      const auto [known, is_new] = sizes.emplace(equation.operands[i][axis], tensors[i].dims[axis]);
      const bool differ =
          known->second.is_fixed() && tensors[i].dims[axis].is_fixed() && known->second != tensors[i].dims[axis];
      args.require(
          !differ,
          fmt::format("sizes {} and {} of {}", known->second.text(), tensors[i].dims[axis].text(), known->first),
          "equal sizes");
    }
  }
  return sizes;
}

Dims dims_of(const std::map<char, Dim>& sizes, const std::string& letters) {
  Dims dims;
  for (const char letter : letters) dims.push_back(sizes.at(letter));
  return dims;
}

std::vector<int64_t> order_of(const std::string& from, const std::string& to) {
  std::vector<int64_t> order;
  for (const char letter : to) order.push_back(static_cast<int64_t>(from.find(letter)));
  return order;
}

std::vector<ValueType> einsum_type(const OpArguments& args) {
  const std::vector<TensorType> tensors = args.tensors("tensors");
  const Equation equation = read_equation(args, tensors);
  require_supported(args, equation);
  for (const TensorType& tensor : tensors) {
    require_float(args, tensor);
    require_rank(args, tensor, 1, kHighestRank);
  }
  const auto sizes = sizes_of(args, equation, tensors);
  for (const char letter : equation.result) {
    args.require(sizes.count(letter) != 0, fmt::format("{} in the result only", letter), "a letter of an operand");
  }
  args.require(equation.result.size() <= kHighestRank, "a result of rank " + std::to_string(equation.result.size()),
               fmt::format("1 to {}", kHighestRank));
  return {TensorType{at::kFloat, dims_of(sizes, equation.result), {}}};
}

// An operand with its letters.
struct Lettered {
  Factor factor;
  std::string letters;
};

// Sums an operand along the axes that neither the result nor the other operand has.
Lettered summed(OpContext& ctx, const Lettered& operand, const std::string& kept) {
  Dims axes;
  Lettered result{operand.factor, ""};
  TensorType type = operand.factor.type();
  type.dims.clear();
  for (size_t axis = 0; axis < operand.letters.size(); ++axis) {
    if (contains(kept, operand.letters[axis])) {
      result.letters += operand.letters[axis];
      type.dims.push_back(operand.factor.dims()[axis]);
    } else {
      axes.emplace_back(static_cast<int64_t>(axis));
    }
  }
  if (axes.empty()) return operand;
  const nnapi::OperandId sum =
      ctx.emit_to(OperationCode::REDUCE_SUM,
                  {operand.factor.operand(), ctx.builder().int32_tensor(axes), ctx.builder().boolean(false)}, type);
  result.factor = Factor(ctx, LoweredTensor{sum, type});
  return result;
}

// Returns the letters of `of` that are (or are not) in `first` and `second`, as `in_first` and `in_second` say.
std::string letters_in(const std::string& of, const std::string& first, bool in_first, const std::string& second,
                       bool in_second) {
  std::string found;
  for (const char letter : of) {
    if (contains(first, letter) == in_first && contains(second, letter) == in_second) found += letter;
  }
  return found;
}

Lettered multiplied(OpContext& ctx, const Lettered& left, const Lettered& right, const std::string& result) {
  const std::string batch = letters_in(result, left.letters, true, right.letters, true);
  const std::string rows = letters_in(result, left.letters, true, right.letters, false);
  const std::string columns = letters_in(result, left.letters, false, right.letters, true);
  const std::string shared = letters_in(left.letters, right.letters, true, result, false);
  std::map<char, Dim> sizes;
  for (size_t i = 0; i < left.letters.size(); ++i) sizes.emplace(left.letters[i], left.factor.dims()[i]);
  for (size_t i = 0; i < right.letters.size(); ++i) sizes.emplace(right.letters[i], right.factor.dims()[i]);
  const Dim batch_size = product(dims_of(sizes, batch));
  const Dim inner = product(dims_of(sizes, shared));
  const Factor left_matrix = left.factor.permuted(order_of(left.letters, batch + rows + shared))
                                 .reshaped({batch_size, product(dims_of(sizes, rows)), inner});
  // The right side needs no transposing if its shared axes come first.
  const bool right_is_transposed = right.letters != batch + shared + columns;
  const Dim columns_size = product(dims_of(sizes, columns));
  const Factor right_matrix = right_is_transposed
                                  ? right.factor.permuted(order_of(right.letters, batch + columns + shared))
                                        .reshaped({batch_size, columns_size, inner})
                                  : right.factor.reshaped({batch_size, inner, columns_size});
  const Factor matrix = batch_product(ctx, left_matrix, right_matrix, right_is_transposed);
  return {matrix.reshaped(dims_of(sizes, batch + rows + columns)), batch + rows + columns};
}

void lower_einsum(OpContext& ctx) {
  const Equation equation = read_equation(ctx, ctx.tensors("tensors"));
  std::vector<Lettered> operands;
  const std::vector<Factor> factors = list_of_factors(ctx, "tensors");
  for (size_t i = 0; i < factors.size(); ++i) {
    const std::string other = equation.operands.size() == 2 ? equation.operands[1 - i] : "";
    operands.push_back(summed(ctx, {factors[i], equation.operands[i]}, equation.result + other));
  }
  // The right operand becomes the weights: a constant one is better there.
  if (operands.size() == 2 && operands[0].factor.is_constant()) std::swap(operands[0], operands[1]);
  const Lettered result =
      operands.size() == 1 ? operands[0] : multiplied(ctx, operands[0], operands[1], equation.result);
  ctx.set_output(result.factor.permuted(order_of(result.letters, equation.result)).operand());
}

}  // namespace

OpRules einsum_rules() {
  return {
      {"aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", 1,
       "float32; 1 or 2 operands without diagonals, as products of matrices", einsum_type, lower_einsum,
       costing(Macs::kEinsum) | Memory::kMayBeArgumentUnlessProduct},
  };
}

}  // namespace nnapi_convert
