// SPDX-License-Identifier: BSD-3-Clause
// Activations of neural networks: functions of the elements of one tensor that layers end with.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/program/operator_table.h"
#include "lib/program/unary.h"

namespace nnapi_shim::program {

namespace {

double silu(double a) {
  return a / (1 + std::exp(-a));
}
double mish(double a) {
  return a * std::tanh(std::log1p(std::exp(a)));
}
double hardswish(double a) {
  return a * std::min(std::max(a + 3, 0.0), 6.0) / 6;
}
double hardsigmoid(double a) {
  return std::min(std::max(a + 3, 0.0), 6.0) / 6;
}
double selu(double a) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return a > 0 ? kScale * a : kScale * kAlpha * std::expm1(a);
}
double gelu(double a) {
  return a * 0.5 * (1 + std::erf(a * 0.70710678118654752440));
}
double gelu_tanh(double a) {
  return 0.5 * a * (1 + std::tanh(1.12837916709551257390 * 0.70710678118654752440 * (a + 0.044715 * a * a * a)));
}
double log_sigmoid(double a) {
  return std::min(a, 0.0) - std::log1p(std::exp(-std::fabs(a)));
}
double softsign(double a) {
  return a / (1 + std::fabs(a));
}
double tanhshrink(double a) {
  return a - std::tanh(a);
}

int64_t relu_of_int(int64_t a) {
  return a > 0 ? a : 0;
}
int64_t relu6_of_int(int64_t a) {
  return a > 0 ? std::min<int64_t>(a, 6) : 0;
}

struct Relu {
  template <typename T>
  static T of(T a) {
    return a < 0 ? 0 : a;
  }
};
struct Relu6 {
  template <typename T>
  static T of(T a) {
    return a < 0 ? 0 : (a > 6 ? 6 : a);
  }
};

constexpr MapOp kSilu = floats_only<silu>(), kMish = floats_only<mish>(), kHardswish = floats_only<hardswish>(),
                kHardsigmoid = floats_only<hardsigmoid>(), kSelu = floats_only<selu>(), kGelu = floats_only<gelu>(),
                kGeluTanh = floats_only<gelu_tanh>(), kLogSigmoid = floats_only<log_sigmoid>(),
                kSoftsign = floats_only<softsign>(), kTanhshrink = floats_only<tanhshrink>();
constexpr MapOp kRelu = cheap<Relu, relu_of_int>(false), kRelu6 = cheap<Relu6, relu6_of_int>(false);

template <bool kInPlace>
bool gelu_of(Call& call) {
  const char* form = nullptr;
  if (call.input_count > 1 && !optional_text_at(call, 1, &form)) return false;
  return run_one(call, form != nullptr && std::strcmp(form, "tanh") == 0 ? kGeluTanh : kGelu, nullptr, kInPlace);
}

// Functions with numbers: p[0] is the second argument, and so on.
struct LeakyRelu {
  template <typename T>
  static T of(T a, const T* p) {
    return a > 0 ? a : a * p[0];
  }
};
struct Elu {  // alpha, scale, input_scale
  static double of(double a, const double* p) { return a > 0 ? a * p[1] : std::expm1(a * p[2]) * p[0] * p[1]; }
};
struct Celu {
  static double of(double a, const double* p) { return a > 0 ? a : p[0] * std::expm1(a / p[0]); }
};
struct Softplus {  // beta, threshold
  static double of(double a, const double* p) { return a * p[0] > p[1] ? a : std::log1p(std::exp(a * p[0])) / p[0]; }
};
struct Threshold {
  template <typename T>
  static T of(T a, const T* p) {
    return a <= p[0] ? p[1] : a;
  }
};
struct Hardshrink {
  static double of(double a, const double* p) { return a >= -p[0] && a <= p[0] ? 0 : a; }
};
struct Softshrink {
  static double of(double a, const double* p) { return a > p[0] ? a - p[0] : (a < -p[0] ? a + p[0] : 0); }
};

constexpr MapOp kLeakyRelu = {
    {map_one_with<float, LeakyRelu>, map_one_with<double, LeakyRelu>, nullptr}, MapResult::kSame, false};
constexpr MapOp kThreshold = {
    {nullptr, map_one_with<double, Threshold>, map_one_with<int64_t, Threshold>}, MapResult::kSame, false};
constexpr MapOp kElu = with_numbers<Elu>(), kCelu = with_numbers<Celu>(), kSoftplus = with_numbers<Softplus>(),
                kHardshrink = with_numbers<Hardshrink>(), kSoftshrink = with_numbers<Softshrink>();

bool run_with(Call& call, const MapOp& op, bool in_place) {
  Parameters parameters;
  for (uint32_t i = 1; i < call.input_count; ++i) {
    if (!is_number(call.input(i))) return call.context.fail("argument %u needs a number", i + 1);
    parameters.set(i - 1, call.input(i));
  }
  return run_one(call, op, &parameters, in_place);
}
template <const MapOp& kOp, bool kInPlace>
bool with_numbers_of(Call& call) {
  return run_with(call, kOp, kInPlace);
}

bool prelu(Call& call) {
  Tensor *tensor, *weight;
  if (!tensor_at(call, 0, &tensor) || !tensor_at(call, 1, &weight) || !need_floating(call, *tensor)) return false;
  const int64_t channels = tensor->rank > 1 ? tensor->sizes[1] : 1, count = weight->numel();
  if (weight->dtype != tensor->dtype || (count != 1 && count != channels) || weight->rank > 1) {
    return call.context.fail("prelu() needs one weight, or one for each channel");
  }
  Tensor* result = make_tensor(call.context.pool, tensor->dtype, tensor->rank, tensor->sizes);
  if (!give(call, 0, result)) return false;
  int64_t inner = 1;
  for (uint32_t i = 2; i < tensor->rank; ++i) inner *= tensor->sizes[i];
  Cursor in, out;
  in.start(*tensor);
  out.start(*result);
  const int64_t all = tensor->numel();
  for (int64_t i = 0; i < all;) {
    const int64_t channel = count == 1 ? 0 : i / inner % channels;
    const double slope = load_double(*weight, weight->offset + (weight->rank == 0 ? 0 : channel * weight->strides[0]));
    const int64_t end = count == 1 ? all : i + inner;
    while (i < end) {
      double values[kChunk];
      const auto length = static_cast<size_t>(std::min<int64_t>(end - i, kChunk));
      in.read(length, Compute::kDouble, values);
      for (size_t k = 0; k < length; ++k) values[k] = values[k] > 0 ? values[k] : values[k] * slope;
      out.write(length, Compute::kDouble, values);
      i += static_cast<int64_t>(length);
    }
  }
  return true;
}

bool dropout(Call& call) {
  Tensor* tensor;
  double p;
  bool train;
  if (!tensor_at(call, 0, &tensor) || !number_at(call, 1, &p) || !bool_at(call, 2, &train)) return false;
  if (train && p != 0) return call.context.fail("dropout() in training has random numbers, which programs don't have");
  return give_argument(call, 0);
}

constexpr OperatorRow kRows[] = {
    PROGRAM_ROWS_OF_ONE("hardsigmoid", kHardsigmoid),
    PROGRAM_ROWS_OF_ONE("hardswish", kHardswish),
    PROGRAM_ROWS_OF_ONE("mish", kMish),
    PROGRAM_ROWS_OF_ONE("relu", kRelu),
    PROGRAM_ROWS_OF_ONE("relu6", kRelu6),
    PROGRAM_ROWS_OF_ONE("selu", kSelu),
    PROGRAM_ROWS_OF_ONE("silu", kSilu),
    {"aten::softsign", 1, 1, of_one<kSoftsign>},
    {"aten::tanhshrink", 1, 1, of_one<kTanhshrink>},
    {"aten::log_sigmoid", 1, 1, of_one<kLogSigmoid>},
    {"aten::gelu", 2, 1, gelu_of<false>},
    {"aten::gelu_", 2, 1, gelu_of<true>},
    {"aten::leaky_relu", 2, 1, with_numbers_of<kLeakyRelu, false>},
    {"aten::leaky_relu_", 2, 1, with_numbers_of<kLeakyRelu, true>},
    {"aten::elu", 4, 1, with_numbers_of<kElu, false>},
    {"aten::elu_", 4, 1, with_numbers_of<kElu, true>},
    {"aten::celu", 2, 1, with_numbers_of<kCelu, false>},
    {"aten::celu_", 2, 1, with_numbers_of<kCelu, true>},
    {"aten::softplus", 3, 1, with_numbers_of<kSoftplus, false>},
    {"aten::threshold", 3, 1, with_numbers_of<kThreshold, false>},
    {"aten::threshold_", 3, 1, with_numbers_of<kThreshold, true>},
    {"aten::hardshrink", 2, 1, with_numbers_of<kHardshrink, false>},
    {"aten::softshrink", 2, 1, with_numbers_of<kSoftshrink, false>},
    {"aten::prelu", 2, 1, prelu},
    {"aten::dropout", 3, 1, dropout},
    {"aten::dropout_", 3, 1, dropout},
    {"aten::feature_dropout", 3, 1, dropout},
    {"aten::alpha_dropout", 3, 1, dropout},
};

}  // namespace

const OperatorTable activation_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
