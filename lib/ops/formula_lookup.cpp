// SPDX-License-Identifier: BSD-3-Clause
// Formulas for rows of computed tables, reductions of bags of rows, products with computed tables, and col2im.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "lib/ops/formulas.h"

namespace nnapi_convert {
namespace {

using at::Tensor;

enum BagMode { kBagSum = 0, kBagMean = 1, kBagMax = 2 };

// The rows of all bags, and `members` [bags, rows]: 1 for each bag's rows, else 0.
struct Bags {
  Tensor rows, members;
};

// Returns the members of the bags. The offsets are the bags' begins; a bag ends at the next one's begin or behind the
// last row.
Tensor members_of(const FormulaArguments& args, int64_t rows) {
  const Tensor offsets = args.tensor("offsets");
  const bool has_last = !args.is_none("include_last_offset") && args.boolean("include_last_offset");
  const int64_t bags = has_last ? offsets.size(0) - 1 : offsets.size(0);
  const Tensor places = constant_of([&] { return at::arange(rows, at::TensorOptions(at::kLong)); });
  const Tensor begun = at::ge(places, offsets.narrow(0, 0, bags).unsqueeze(1)).to(at::kFloat);
  if (bags == 1 && !has_last) return begun;
  const Tensor next = offsets.narrow(0, 1, has_last ? bags : bags - 1).unsqueeze(1);
  const Tensor ended = at::ge(places, next).to(at::kFloat);
  return begun - (has_last ? ended : at::constant_pad_nd(ended, {0, 0, 0, 1}, 0));
}

Bags read_bags(const FormulaArguments& args) {
  constexpr int64_t kMostBags = 64;  // each is compared with all rows
  const Tensor weight = args.tensor("weight"), indices = args.tensor("indices");
  const int64_t bags = args.tensor("offsets").size(0);
  if (bags > kMostBags) {
    throw FormulaRefused(fmt::format("{} bags whose offsets or weights are computed", bags),
                         fmt::format("at most {}, or constants", kMostBags),
                         "give the bags as rows of a matrix of one length");
  }
  Bags result{at::embedding(weight, indices.reshape({-1})), members_of(args, indices.numel())};
  if (!args.is_none("padding_idx")) {
    const int64_t padding = args.integer("padding_idx");
    const int64_t row = padding < 0 ? padding + weight.size(0) : padding;
    result.members = result.members * at::ne(indices.reshape({-1}), row).to(at::kFloat);
  }
  if (!args.is_none("per_sample_weights")) {
    result.rows = result.rows * args.tensor("per_sample_weights").reshape({-1, 1});
  }
  return result;
}

// Returns the greatest elements of each bag; 0 for a bag without rows.
Tensor greatest(const Bags& bags) {
  constexpr double kLowest = -3e38;
  const Tensor absent = (bags.members - 1) * -kLowest;
  const Tensor all = at::clamp_min(bags.rows.unsqueeze(0) + absent.unsqueeze(2), kLowest).amax({1});
  return all * bags.members.amax({1}, true);
}

std::vector<Formed> embedding_bag(const FormulaArguments& args) {
  const Bags bags = read_bags(args);
  const int64_t mode = args.integer("mode");
  Tensor result = mode == kBagMax ? greatest(bags) : at::matmul(bags.members, bags.rows);
  if (mode == kBagMean) result = result / at::clamp_min(bags.members.sum({1}, true), 1);
  return {result, result, result, result};  // nothing reads the other results
}

bool is_computed_bag(const OpArguments& args) {
  const auto outputs = args.node().outputs();
  for (size_t i = 1; i < outputs.size(); ++i) {
    if (!outputs[i]->uses().empty()) return false;
  }
  const bool is_plain = args.is_constant("weight") && args.is_constant("offsets") &&
                        (!args.has("padding_idx") || args.is_none("padding_idx"));
  return !is_plain && args.tensor("weight").dtype == at::kFloat;
}

std::vector<Formed> bilinear(const FormulaArguments& args) {
  const Tensor first = args.tensor("input1"), second = args.tensor("input2"), weight = args.tensor("weight");
  const Tensor filters = weight.permute({0, 2, 1}).reshape({-1, weight.size(1)});
  std::vector<int64_t> sizes = first.sizes().vec();
  sizes.back() = weight.size(0);
  sizes.push_back(weight.size(2));
  const Tensor products = at::linear(first, filters).reshape(sizes);
  const Tensor result = (products * second.unsqueeze(-2)).sum({-1});
  return {args.is_none("bias") ? result : result + args.tensor("bias")};
}

bool has_computed_weight(const OpArguments& args) {
  return !args.is_constant("weight") || (!args.is_none("bias") && !args.is_constant("bias"));
}

// The windows of col2im, the inverse of im2col: rows first, then columns.
struct FoldWindows {
  std::vector<int64_t> size, kernel, dilation, padding, stride;
  std::vector<int64_t> blocks = {};  // the number of windows along each axis

  explicit FoldWindows(const FormulaArguments& args) {
    const auto two = [&](const char* name) { return args.integers(name, 2, {1, 1}); };
    size = two("output_size");
    kernel = two("kernel_size");
    dilation = two("dilation");
    padding = two("padding");
    stride = two("stride");
    const auto is_positive = [](const auto& numbers) { return numbers[0] > 0 && numbers[1] > 0; };
    if (!is_positive(kernel) || !is_positive(stride) || !is_positive(dilation)) {
      throw FormulaRefused("a kernel, stride or dilation below 1", "1 or more");
    }
    for (size_t i = 0; i < 2; ++i) {
      blocks.push_back((size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1);
    }
  }

  // A window is cut into pieces as large as a stride, so that pieces of neighbouring windows lie beside each other. A
  // window with holes (dilation) is cut into single cells.
  bool has_holes() const { return dilation[0] > 1 || dilation[1] > 1; }
  int64_t pieces(size_t axis) const {
    return has_holes() ? kernel[axis] : (kernel[axis] + stride[axis] - 1) / stride[axis];
  }
  int64_t piece_size(size_t axis) const { return has_holes() ? 1 : stride[axis]; }
  int64_t piece_begin(size_t axis, int64_t piece) const {
    return piece * (has_holes() ? dilation[axis] : stride[axis]) - padding[axis];
  }
};

// Turns values [maps, rows of a piece, columns of a piece, windows] into pictures [maps, rows, columns] with the pieces
// of all windows.
Tensor laid_out(const Tensor& piece, const FoldWindows& windows) {
  const int64_t maps = piece.size(0), rows = piece.size(1), columns = piece.size(2);
  const std::vector<int64_t>& blocks = windows.blocks;
  const Tensor wide =
      piece.reshape({maps * rows, columns, blocks[0], blocks[1]}).permute({0, 2, 3, 1});  // columns in order
  const Tensor high = wide.reshape({maps, rows, blocks[0], blocks[1] * columns}).permute({0, 2, 1, 3});
  const Tensor picture = high.reshape({maps, blocks[0] * rows, blocks[1] * columns});
  if (!windows.has_holes()) return picture;
  return spread(spread(picture, 1, windows.stride[0]), 2, windows.stride[1]);
}

// col2im: moves each piece of the windows to the place where it came from, and sums all pieces.
std::vector<Formed> col2im(const FormulaArguments& args) {
  constexpr int64_t kMostPieces = 64;
  const Tensor self = args.tensor("self");
  const FoldWindows windows(args);
  const int64_t count = windows.pieces(0) * windows.pieces(1);
  if (count > kMostPieces) {
    throw FormulaRefused(fmt::format("a sum of {} pieces of each window", count),
                         fmt::format("{} at most", kMostPieces));
  }
  const std::vector<int64_t>& size = windows.size;
  const std::vector<int64_t>& kernel = windows.kernel;
  const int64_t batch = self.dim() == 3 ? self.size(0) : 1;
  const int64_t channels = self.size(-2) / (kernel[0] * kernel[1]);
  const int64_t rows = windows.piece_size(0), columns = windows.piece_size(1);
  const Tensor whole = at::constant_pad_nd(
      self.reshape({batch * channels, kernel[0], kernel[1], windows.blocks[0] * windows.blocks[1]}),
      {0, 0, 0, windows.pieces(1) * columns - kernel[1], 0, windows.pieces(0) * rows - kernel[0]}, 0);
  Tensor sum;
  for (int64_t down = 0; down < windows.pieces(0); ++down) {
    const Tensor band = whole.narrow(1, down * rows, rows);
    const int64_t row = windows.piece_begin(0, down);
    for (int64_t right = 0; right < windows.pieces(1); ++right) {
      const Tensor picture = laid_out(band.narrow(2, right * columns, columns), windows);
      const int64_t column = windows.piece_begin(1, right);
      const Tensor moved = at::constant_pad_nd(
          picture, {column, size[1] - column - picture.size(2), row, size[0] - row - picture.size(1)}, 0);
      sum = sum.defined() ? sum + moved : moved;
    }
  }
  if (self.dim() == 2) return {sum.reshape({channels, size[0], size[1]})};
  return {sum.reshape({batch, channels, size[0], size[1]})};
}

// narrow from a computed start, which counts from the end if it is below 0.
std::vector<Formed> narrow(const FormulaArguments& args) {
  const Tensor self = args.tensor("self"), start = args.tensor("start").reshape({1}).to(at::kFloat);
  const int64_t axis = args.integer("dim"), size = self.size(axis);
  const Tensor begin = start + at::lt(start, 0).to(at::kFloat) * static_cast<double>(size);
  const Tensor places = constant_of([&] { return at::arange(args.integer("length"), at::kFloat); });
  return {self.index_select(axis, (begin + places).to(at::kInt))};
}

bool has_computed_start(const OpArguments& args) {
  return !args.is_constant("start") && args.tensor("self").rank() > 0;
}

}  // namespace

Formulas lookup_formulas() {
  return {
      {"aten::narrow.Tensor", has_computed_start, narrow},
      {"aten::embedding_bag", is_computed_bag, embedding_bag},
      {"aten::embedding_bag.padding_idx", is_computed_bag, embedding_bag},
      {"aten::bilinear", has_computed_weight, bilinear},
      {"aten::col2im", nullptr, col2im},
  };
}

}  // namespace nnapi_convert
