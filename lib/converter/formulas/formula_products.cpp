// Products of tensors in forms that no rule takes: a linear layer whose weight is a vector, and the product of three
// tensors that bilinear layers are made of.
#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "lib/converter/formulas/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

bool has_vector_weight(const OpArguments& args) {
  return args.tensor("weight").rank() == 1 && args.tensor("input").dtype == at::kFloat;
}

std::vector<Formed> vector_linear(const FormulaArguments& args) {
  const Tensor product = at::matmul(args.tensor("input"), args.tensor("weight"));
  const Tensor bias = args.optional("bias");
  return {bias.defined() ? product + bias : product};
}

// The axes of the product have letters; a tensor has those that `missing` doesn't name.
std::string letters_without(int64_t rank, const std::vector<int64_t>& missing) {
  std::string letters;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(missing.begin(), missing.end(), axis) == missing.end()) {
      letters += static_cast<char>('a' + static_cast<int>(axis));
    }
  }
  return letters;
}

// The first two factors are multiplied before the third one, and lose the axes that only they have and that are summed.
std::vector<Formed> trilinear(const FormulaArguments& args) {
  const Tensor first = args.tensor("i1"), second = args.tensor("i2"), third = args.tensor("i3");
  const std::vector<int64_t> missing = args.integers("expand1");
  const int64_t rank = first.dim() + static_cast<int64_t>(missing.size());
  const std::string of_first = letters_without(rank, missing),
                    of_second = letters_without(rank, args.integers("expand2")),
                    of_third = letters_without(rank, args.integers("expand3")),
                    result = letters_without(rank, args.integers("sumdim"));
  std::string between;
  for (const char letter : letters_without(rank, {})) {
    const bool is_here = (of_first + of_second).find(letter) != std::string::npos;
    if (is_here && (of_third + result).find(letter) != std::string::npos) between += letter;
  }
  const Tensor pair = at::einsum(of_first + "," + of_second + "->" + between, {first, second});
  return {at::einsum(between + "," + of_third + "->" + result, {pair, third})};
}

bool are_floats(const OpArguments& args) {
  return args.tensor("i1").dtype == at::kFloat && args.tensor("i2").dtype == at::kFloat &&
         args.tensor("i3").dtype == at::kFloat;
}

}  // namespace

Formulas product_formulas() {
  return {
      {"aten::linear", has_vector_weight, vector_linear},
      {"aten::_trilinear", are_floats, trilinear},
  };
}

}  // namespace nnapi_convert
