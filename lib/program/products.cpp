// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices, and convolutions: plain loops, for the parts of a model that NNAPI doesn't run.
#include <algorithm>
#include <cstring>
#include <limits>

#include "lib/program/dot.h"
#include "lib/program/mapping.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

// Multiplies the rows of a by the rows of b.
template <typename T>
void multiply(int64_t rows, int64_t columns, int64_t inner, const void* a, const void* b, void* out) {
  auto* result = static_cast<T*>(out);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) {
      *result++ = dot(static_cast<const T*>(a) + i * inner, static_cast<const T*>(b) + k * inner, inner);
    }
  }
}

// Returns a row-major copy in the dtype in which products are computed.
Value working_copy(Pool& pool, Tensor& tensor, ScalarType dtype) {
  const Value converted(converted_tensor(pool, tensor, dtype));
  return converted.is_none() ? converted : Value(contiguous(pool, converted.tensor()));
}

// Computes the product of [..., M, K] and [..., K, N]; vectors are matrices of one row or column, whose axis the result
// lacks.
bool give_product(Call& call, Tensor& first, Tensor& second) {
  if (first.rank == 0 || second.rank == 0) return call.context.fail("a product needs vectors or matrices");
  if (first.dtype != second.dtype) {
    return call.context.fail("a product of %s and %s", dtype_name(first.dtype), dtype_name(second.dtype));
  }
  if (first.dtype == ScalarType::kBool) return call.context.fail("a product of bools");
  Tensor a = first, b = second;
  const bool is_row = a.rank == 1, is_column = b.rank == 1;
  if (is_row) {
    a.sizes[1] = a.sizes[0];
    a.strides[1] = a.strides[0];
    a.sizes[0] = 1;
    a.strides[0] = 0;
    a.rank = 2;
  }
  if (is_column) {
    b.sizes[1] = b.strides[1] = 1;
    b.rank = 2;
  }
  std::swap(b.sizes[b.rank - 1], b.sizes[b.rank - 2]);
  std::swap(b.strides[b.rank - 1], b.strides[b.rank - 2]);
  const int64_t rows = a.sizes[a.rank - 2], columns = b.sizes[b.rank - 2], inner = a.sizes[a.rank - 1];
  if (b.sizes[b.rank - 1] != inner) {
    return call.context.fail("matrices of %lld columns and %lld rows have no product", static_cast<long long>(inner),
                             static_cast<long long>(b.sizes[b.rank - 1]));
  }
  // Broadcasts the leading axes.
  int64_t sizes[kMostAxes];
  uint32_t batch_rank = 0;
  Tensor a_batch = a, b_batch = b;
  a_batch.rank = a.rank - 2;
  b_batch.rank = b.rank - 2;
  if (!broadcast(call, a_batch, &batch_rank, sizes) || !broadcast(call, b_batch, &batch_rank, sizes)) return false;
  uint32_t rank = batch_rank;
  if (!is_row) sizes[rank++] = rows;
  if (!is_column) sizes[rank++] = columns;
  const Compute compute = compute_of(first.dtype);
  constexpr ScalarType kTypes[] = {ScalarType::kFloat32, ScalarType::kFloat64, ScalarType::kInt64};
  const ScalarType dtype = kTypes[static_cast<size_t>(compute)];
  Pool& pool = call.context.pool;
  // Views have headers of their own; those of a and b are not the pool's.
  const Value a_view(make_view(pool, a)), b_view(make_view(pool, b));
  if (a_view.is_none() || b_view.is_none()) return call.context.fail_memory();
  const Value left = working_copy(pool, a_view.tensor(), dtype), right = working_copy(pool, b_view.tensor(), dtype);
  const Value product(make_tensor(pool, dtype, rank, sizes));
  if (left.is_none() || right.is_none() || product.is_none()) return call.context.fail_memory();
  int64_t batches = 1;
  for (uint32_t i = 0; i < batch_rank; ++i) batches *= sizes[i];
  const size_t bytes = element_bytes(dtype);
  const auto step_of = [&sizes, batch_rank](const Tensor& tensor, int64_t batch) {
    int64_t offset = 0;
    const uint32_t own = tensor.rank - 2;
    for (uint32_t i = own; i-- > 0;) {
      const int64_t size = sizes[batch_rank - own + i];
      if (tensor.sizes[i] != 1) offset += batch % size * tensor.strides[i];
      batch /= size;
    }
    return offset;
  };
  if (product.tensor().numel() == 0) batches = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const uint8_t* x = left.tensor().bytes() + static_cast<size_t>(step_of(left.tensor(), i)) * bytes;
    const uint8_t* y = right.tensor().bytes() + static_cast<size_t>(step_of(right.tensor(), i)) * bytes;
    uint8_t* out = product.tensor().bytes() + static_cast<size_t>(i * rows * columns) * bytes;
    if (compute == Compute::kFloat) {
      multiply<float>(rows, columns, inner, x, y, out);
    } else if (compute == Compute::kDouble) {
      multiply<double>(rows, columns, inner, x, y, out);
    } else {
      multiply<uint64_t>(rows, columns, inner, x, y, out);
    }
  }
  return give(call, 0, converted_tensor(pool, product.tensor(), first.dtype));
}

// Runs a product of the first two arguments. `first_rank` and `second_rank` are the ranks needed; 0: any rank.
bool run_product(Call& call, uint32_t first_rank, uint32_t second_rank) {
  Tensor *a, *b;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b)) return false;
  if ((first_rank != 0 && a->rank != first_rank) || (second_rank != 0 && b->rank != second_rank)) {
    return call.context.fail("a product of tensors of %u and %u axes", a->rank, b->rank);
  }
  if (first_rank == 3 && a->sizes[0] != b->sizes[0]) return call.context.fail("bmm() of batches of different sizes");
  return give_product(call, *a, *b);
}
template <uint32_t kFirstRank, uint32_t kSecondRank>
bool product(Call& call) {
  return run_product(call, kFirstRank, kSecondRank);
}

struct WeightedSum {  // the function beta * a + alpha * b
  template <typename T>
  static T of(T a, T b, const T* p) {
    return (p[0] == 0 ? 0 : p[0] * a) + p[1] * b;
  }
  static int64_t of(int64_t a, int64_t b, const int64_t* p) {
    return static_cast<int64_t>(static_cast<uint64_t>(p[0]) * static_cast<uint64_t>(a) +
                                static_cast<uint64_t>(p[1]) * static_cast<uint64_t>(b));
  }
};
constexpr MapOp kWeightedSum = {
    {nullptr, map_two_with<double, WeightedSum>, map_two_with<int64_t, WeightedSum>}, MapResult::kSame, false};

// Adds the value, repeated where its sizes are 1, to the output. `beta` and `alpha` are the weights of the value and of
// the output.
bool add_to_output(Call& call, const Value& added, const Value& beta, const Value& alpha) {
  if (!added.is_tensor() || !is_number(beta) || !is_number(alpha)) {
    return call.context.fail("the sum needs a tensor and numbers");
  }
  Parameters parameters;
  parameters.set(0, beta);
  parameters.set(1, alpha);
  const Value product = call.outputs[0];
  if (added.tensor().dtype != product.tensor().dtype) return call.context.fail("the sum needs one dtype");
  Operand operands[2];
  operands[0].set(added);
  operands[1].set(product);
  if (!run_map(call, kWeightedSum, &parameters, 2, operands, 0, nullptr)) return false;
  return need_same_sizes(call, call.outputs[0].tensor(), product.tensor());
}

// Runs addmm, addmv and baddbmm; the arguments are (added, a, b, beta, alpha).
template <uint32_t kFirstRank, uint32_t kSecondRank>
bool added_product(Call& call) {
  const Value* inputs[2] = {call.inputs[1], call.inputs[2]};
  Call inner{call.context, inputs, 2, call.outputs, 1};
  return product<kFirstRank, kSecondRank>(inner) && add_to_output(call, call.input(0), call.input(3), call.input(4));
}

bool linear(Call& call) {
  Tensor *input, *weight;
  if (!tensor_at(call, 0, &input) || !tensor_at(call, 1, &weight)) return false;
  if (weight->rank == 0 || weight->rank > 2) return call.context.fail("linear() needs a weight of 2 axes");
  Tensor transposed = *weight;
  if (weight->rank == 2) {
    std::swap(transposed.sizes[0], transposed.sizes[1]);
    std::swap(transposed.strides[0], transposed.strides[1]);
  }
  if (!give_product(call, *input, transposed)) return false;
  const Value one(int64_t{1});
  return call.input(2).is_none() || add_to_output(call, call.input(2), one, one);
}

bool outer(Call& call) {
  Tensor *a, *b;
  if (!tensor_at(call, 0, &a) || !tensor_at(call, 1, &b)) return false;
  if (a->rank != 1 || b->rank != 1) return call.context.fail("outer() needs two vectors");
  Tensor column = *a, row = *b;
  column.rank = row.rank = 2;
  column.sizes[1] = column.strides[1] = 1;
  row.sizes[1] = b->sizes[0];
  row.strides[1] = b->strides[0];
  row.sizes[0] = row.strides[0] = 1;
  return give_product(call, column, row);
}

// A convolution over two axes; a 1-D one is over images of height 1.
struct Convolution {
  int64_t stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1}, output_padding[2] = {0, 0};
  int64_t groups = 1;
  bool transposed = false;
};

// Reads a list of one number for each axis, or one number for all axes.
bool pair_at(Call& call, uint32_t number, uint32_t axes, int64_t least, int64_t* values) {
  int64_t list[2];
  uint32_t count;
  if (!ints_at(call, number, axes, list, &count)) return false;
  if (count != axes && count != 1) return call.context.fail("argument %u needs %u numbers", number + 1, axes);
  for (uint32_t i = 0; i < axes; ++i) {
    const int64_t value = list[count == 1 ? 0 : i];
    if (value < least || value > (int64_t{1} << 30)) {
      return call.context.fail("argument %u is %lld", number + 1, static_cast<long long>(value));
    }
    values[2 - axes + i] = value;
  }
  return true;
}

// Returns the range of places whose counterparts, place * stride - padding + tap * dilation, are inside of the other
// image.
void valid_range(int64_t count, int64_t counterparts, int64_t stride, int64_t shift, int64_t* begin, int64_t* end) {
  *begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  *end = counterparts - shift <= 0 ? 0 : std::min(count, (counterparts - shift + stride - 1) / stride);
}

bool convolve(Call& call, uint32_t axes, const Convolution& form) {
  Tensor *input, *weight, *bias;
  if (!tensor_at(call, 0, &input) || !tensor_at(call, 1, &weight) || !optional_tensor_at(call, 2, &bias)) return false;
  if (!need_floating(call, *input) || weight->dtype != input->dtype || weight->rank != axes + 2) {
    return call.context.fail("a convolution needs floats, and a weight of %u axes", axes + 2);
  }
  const bool has_batch = input->rank == axes + 2;
  if (!has_batch && input->rank != axes + 1)
    return call.context.fail("the input of a convolution has %u axes", input->rank);
  // The sizes as [N, C, H, W] and [O, I, H, W].
  int64_t in[4] = {1, 1, 1, 1}, filter[4] = {1, 1, 1, 1};
  for (uint32_t i = 0; i < input->rank; ++i)
    in[i + (has_batch ? 0 : 1) + (axes == 1 && i + (has_batch ? 0 : 1) >= 2 ? 1 : 0)] = input->sizes[i];
  for (uint32_t i = 0; i < weight->rank; ++i) filter[i + (axes == 1 && i >= 2 ? 1 : 0)] = weight->sizes[i];
  const int64_t groups = form.groups;
  if (groups < 1) return call.context.fail("%lld groups", static_cast<long long>(groups));
  const int64_t in_each = in[1] / groups;
  const int64_t out_each = form.transposed ? filter[1] : filter[0] / groups;
  const bool fits =
      in[1] % groups == 0 && (form.transposed ? filter[0] == in[1] : filter[1] == in_each && filter[0] % groups == 0);
  if (!fits) return call.context.fail("the weight of a convolution doesn't fit to its input's channels");
  int64_t out[4] = {in[0], out_each * groups, 1, 1};
  if (bias != nullptr && (bias->rank != 1 || bias->sizes[0] != out[1] || bias->dtype != input->dtype)) {
    return call.context.fail("the bias of a convolution needs a number for each channel");
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t axis = 2 + i;
    if (in[axis] > (int64_t{1} << 31) || filter[axis] > (int64_t{1} << 31) || filter[axis] < 1) {
      return call.context.fail("the sizes of a convolution");
    }
    const int64_t reach = form.dilation[i] * (filter[axis] - 1) + 1;
    out[axis] = form.transposed ? (in[axis] - 1) * form.stride[i] - 2 * form.padding[i] + reach + form.output_padding[i]
                                : in[axis] + 2 * form.padding[i] - reach;
    if (!form.transposed && out[axis] >= 0) out[axis] = out[axis] / form.stride[i] + 1;
    if (out[axis] <= 0) return call.context.fail("the filter of a convolution is larger than its input");
  }
  Pool& pool = call.context.pool;
  int64_t result_sizes[4];
  uint32_t rank = 0;
  for (uint32_t i = has_batch ? 0 : 1; i < 4; ++i) {
    if (axes != 1 || i != 2) result_sizes[rank++] = out[i];
  }
  const Value values = working_copy(pool, *input, ScalarType::kFloat64);
  const Value weights = working_copy(pool, *weight, ScalarType::kFloat64);
  const Value result(make_tensor(pool, ScalarType::kFloat64, rank, result_sizes));
  if (values.is_none() || weights.is_none() || result.is_none()) return call.context.fail_memory();
  const auto* x = values.tensor().data<double>();
  const auto* w = weights.tensor().data<double>();
  auto* y = result.tensor().data<double>();
  const int64_t in_plane = in[2] * in[3], out_plane = out[2] * out[3];
  for (int64_t n = 0; n < in[0]; ++n) {
    for (int64_t o = 0; o < out[1]; ++o, y += out_plane) {
      const double start = bias == nullptr ? 0 : load_double(*bias, bias->offset + o * bias->strides[0]);
      std::fill(y, y + out_plane, start);
      const int64_t group = o / out_each;
      for (int64_t c = 0; c < in_each; ++c) {
        const int64_t channel = group * in_each + c;
        const double* plane = x + (n * in[1] + channel) * in_plane;
        const double* taps =
            w + (form.transposed ? channel * filter[1] + o % out_each : o * filter[1] + c) * filter[2] * filter[3];
        for (int64_t ky = 0; ky < filter[2]; ++ky) {
          for (int64_t kx = 0; kx < filter[3]; ++kx) {
            const double tap = *taps++;
            // Places of the smaller image step by 1, those of the larger one by the stride.
            const int64_t* small = form.transposed ? in : out;
            const int64_t* big = form.transposed ? out : in;
            const int64_t down = ky * form.dilation[0] - form.padding[0];
            const int64_t across = kx * form.dilation[1] - form.padding[1];
            int64_t first_row, last_row, first, last;
            valid_range(small[2], big[2], form.stride[0], down, &first_row, &last_row);
            valid_range(small[3], big[3], form.stride[1], across, &first, &last);
            for (int64_t row = first_row; row < last_row; ++row) {
              const int64_t big_row = row * form.stride[0] + down;
              if (form.transposed) {
                const double* from = plane + row * in[3];
                double* to = y + big_row * out[3] + across;
                for (int64_t i = first; i < last; ++i) to[i * form.stride[1]] += tap * from[i];
              } else {
                const double* from = plane + big_row * in[3] + across;
                double* to = y + row * out[3];
                for (int64_t i = first; i < last; ++i) to[i] += tap * from[i * form.stride[1]];
              }
            }
          }
        }
      }
    }
  }
  return give(call, 0, converted_tensor(pool, result.tensor(), input->dtype));
}

// Runs conv1d and conv2d, with paddings as numbers or as 'same' or 'valid'.
bool run_conv(Call& call, uint32_t axes) {
  Convolution form;
  Tensor* weight;
  if (!tensor_at(call, 1, &weight) || !pair_at(call, 3, axes, 1, form.stride)) return false;
  if (!pair_at(call, 5, axes, 1, form.dilation) || !int_at(call, 6, &form.groups)) return false;
  if (call.input(4).tag() != Tag::kString) {
    return pair_at(call, 4, axes, 0, form.padding) && convolve(call, axes, form);
  }
  if (std::strcmp(call.input(4).string().text(), "valid") == 0) return convolve(call, axes, form);
  if (weight->rank != axes + 2) return call.context.fail("the weight has %u axes", weight->rank);
  for (uint32_t i = 0; i < axes; ++i) {
    const int64_t reach = form.dilation[2 - axes + i] * (weight->sizes[2 + i] - 1);
    if (reach % 2 != 0 || reach < 0) return call.context.fail("'same' padding needs filters of odd sizes");
    form.padding[2 - axes + i] = reach / 2;
  }
  return convolve(call, axes, form);
}
template <uint32_t kAxes>
bool conv(Call& call) {
  return run_conv(call, kAxes);
}

bool run_conv_transpose(Call& call, uint32_t axes) {
  Convolution form;
  form.transposed = true;
  return pair_at(call, 3, axes, 1, form.stride) && pair_at(call, 4, axes, 0, form.padding) &&
         pair_at(call, 5, axes, 0, form.output_padding) && int_at(call, 6, &form.groups) &&
         pair_at(call, 7, axes, 1, form.dilation) && convolve(call, axes, form);
}
template <uint32_t kAxes>
bool conv_transpose(Call& call) {
  return run_conv_transpose(call, kAxes);
}

bool convolution(Call& call) {
  Convolution form;
  Tensor* input;
  if (!tensor_at(call, 1, &input)) return false;
  const uint32_t axes = input->rank == 3 ? 1 : 2;
  return pair_at(call, 3, axes, 1, form.stride) && pair_at(call, 4, axes, 0, form.padding) &&
         pair_at(call, 5, axes, 1, form.dilation) && bool_at(call, 6, &form.transposed) &&
         pair_at(call, 7, axes, 0, form.output_padding) && int_at(call, 8, &form.groups) && convolve(call, axes, form);
}

constexpr OperatorRow kRows[] = {
    {"aten::_convolution", 13, 1, convolution},
    {"aten::_convolution.deprecated", 12, 1, convolution},
    {"aten::addmm", 5, 1, added_product<2, 2>},
    {"aten::addmv", 5, 1, added_product<2, 1>},
    {"aten::baddbmm", 5, 1, added_product<3, 3>},
    {"aten::bmm", 2, 1, product<3, 3>},
    {"aten::conv1d.,padding", 7, 1, conv<1>},
    {"aten::conv2d.,padding", 7, 1, conv<2>},
    {"aten::conv_transpose1d", 8, 1, conv_transpose<1>},
    {"aten::conv_transpose2d.input", 8, 1, conv_transpose<2>},
    {"aten::convolution", 9, 1, convolution},
    {"aten::dot", 2, 1, product<1, 1>},
    {"aten::ger", 2, 1, outer},
    {"aten::linear", 3, 1, linear},
    {"aten::matmul", 2, 1, product<0, 0>},
    {"aten::mm", 2, 1, product<2, 2>},
    {"aten::mv", 2, 1, product<2, 1>},
    {"aten::outer", 2, 1, outer},
};

}  // namespace

const OperatorTable product_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
