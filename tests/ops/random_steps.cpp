// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ops/random_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace nnapi_convert {

std::string RandomSteps::pick(const std::vector<std::string>& texts) {
  return texts[static_cast<size_t>(number(0, static_cast<int64_t>(texts.size()) - 1))];
}

int64_t RandomSteps::axis(const Sizes& sizes) {
  const auto rank = static_cast<int64_t>(sizes.size());
  return number(-rank, rank - 1);
}

std::string RandomSteps::axes(const Sizes& sizes) {
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (chance(0.5)) chosen.push_back(static_cast<int64_t>(i) - (chance(0.3) ? static_cast<int64_t>(sizes.size()) : 0));
  }
  if (chosen.empty()) chosen.push_back(axis(sizes));
  return fmt::format("[{}]", fmt::join(chosen, ", "));
}

// Random sizes with that product.
RandomSteps::Sizes RandomSteps::factors(int64_t count) {
  Sizes sizes;
  while (count > 1 && sizes.size() < 4) {
    std::vector<int64_t> divisors;
    for (int64_t d = 2; d <= count; ++d) {
      if (count % d == 0) divisors.push_back(d);
    }
    sizes.push_back(divisors[static_cast<size_t>(number(0, static_cast<int64_t>(divisors.size()) - 1))]);
    count /= sizes.back();
  }
  if (count > 1 || sizes.empty()) sizes.push_back(count);
  if (chance(0.3)) sizes.insert(sizes.begin() + number(0, static_cast<int64_t>(sizes.size())), 1);
  return sizes;
}

std::string RandomSteps::real() {
  return fmt::format("{:.2f}", std::uniform_real_distribution<double>(-2, 2)(engine_));
}

std::string RandomSteps::weight(Sizes sizes, std::vector<Weight>& weights) {
  weights.push_back({fmt::format("w{}", weights.size()), std::move(sizes)});
  return "self." + weights.back().name;
}

std::string RandomSteps::unary(const std::string& value) {
  const std::string text = pick({"relu({})",
                                 "relu6({})",
                                 "sigmoid({})",
                                 "tanh({})",
                                 "silu({})",
                                 "gelu({})",
                                 "hardswish({})",
                                 "hardsigmoid({})",
                                 "mish({})",
                                 "softplus({})",
                                 "abs({})",
                                 "neg({})",
                                 "sin({})",
                                 "cos({})",
                                 "square({})",
                                 "erf({})",
                                 "leaky_relu({}, 0.1)",
                                 "elu({}, 1.5)",
                                 "selu({})",
                                 "celu({}, 0.7)",
                                 "hardtanh({}, -0.5, 1.5)",
                                 "clamp({}, -0.7, 0.9)",
                                 "clamp({}, None, 0.4)",
                                 "exp(torch.clamp({}, -3., 2.))",
                                 "sqrt(torch.add(torch.abs({}), 0.1))",
                                 "log(torch.add(torch.abs({}), 0.5))",
                                 "reciprocal(torch.add(torch.abs({}), 0.5))",
                                 "rsqrt(torch.add(torch.square({}), 0.5))",
                                 "softsign({})",
                                 "logsigmoid({})",
                                 "log_sigmoid({})",
                                 "hardshrink({}, 0.3)",
                                 "softshrink({}, 0.3)",
                                 "pow({}, 2)"});
  return "torch." + fmt::format(fmt::runtime(text), value);
}

std::string RandomSteps::arithmetic(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  const std::string operation = pick({"add", "sub", "mul", "maximum", "minimum", "div"});
  if (operation == "div") return fmt::format("torch.div({}, {})", value, pick({"2.5", "-0.3", "4"}));
  const bool has_number_form = operation != "maximum" && operation != "minimum";
  if (has_number_form && chance(0.3)) return fmt::format("torch.{}({}, {})", operation, value, real());
  if (operation == "sub" && chance(0.3)) return fmt::format("torch.rsub({}, {})", value, real());
  if (chance(0.2)) return fmt::format("torch.{}({}, x)", operation, value);
  Sizes other(sizes.begin() + number(0, static_cast<int64_t>(sizes.size()) - 1), sizes.end());
  for (int64_t& size : other) {
    if (chance(0.4)) size = 1;
  }
  const std::string constant = weight(other, weights);
  return chance(0.5) ? fmt::format("torch.{}({}, {})", operation, value, constant)
                     : fmt::format("torch.{}({}, {})", operation, constant, value);
}

std::string RandomSteps::view(const std::string& value, const Sizes& sizes) {
  const int64_t count = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  switch (number(0, 5)) {
    case 0: {
      std::vector<int64_t> order(sizes.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), engine_);
      return fmt::format("torch.permute({}, [{}])", value, fmt::join(order, ", "));
    }
    case 1:
      return fmt::format("torch.transpose({}, {}, {})", value, axis(sizes), axis(sizes));
    case 2:
      return fmt::format("torch.reshape({}, [{}])", value, fmt::join(factors(count), ", "));
    case 3:
      return fmt::format("torch.unsqueeze({}, {})", value, axis(sizes));
    case 4:
      return fmt::format("torch.squeeze({}, {})", value, axis(sizes));
    default:
      return fmt::format("torch.flatten({}, {}, -1)", value, number(0, static_cast<int64_t>(sizes.size()) - 1));
  }
}

std::string RandomSteps::part(const std::string& value, const Sizes& sizes) {
  const int64_t dim = axis(sizes);
  const int64_t size = sizes[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(sizes.size()) : dim)];
  const int64_t begin = number(0, size - 1);
  switch (number(0, 6)) {
    case 0:
      return fmt::format("torch.slice({}, {}, {}, {}, {})", value, dim, begin, number(begin + 1, size), number(1, 3));
    case 1:
      return fmt::format("torch.select({}, {}, {})", value, dim, chance(0.3) ? begin - size : begin);
    case 2:
      return fmt::format("torch.narrow({}, {}, {}, {})", value, dim, begin, number(1, size - begin));
    case 3:
      return fmt::format("torch.cat(torch.split({}, {}, {}), {})", value, number(1, size), dim, axis(sizes));
    case 4:
      return fmt::format("torch.flip({}, {})", value, axes(sizes));
    case 5:
      return fmt::format("torch.roll({}, [{}], [{}])", value, number(-3, 3), dim);
    default:
      return fmt::format("torch.index_select({}, {}, torch.tensor([{}, {}]))", value, dim, begin, number(0, size - 1));
  }
}

std::string RandomSteps::join(const std::string& value, const Sizes& sizes) {
  switch (number(0, 4)) {
    case 0:
      return fmt::format("torch.cat([{0}, torch.tanh({0})], {1})", value, axis(sizes));
    case 1:
      return fmt::format("torch.stack([{0}, torch.relu({0})], {1})", value, axis(sizes));
    case 2: {
      Sizes repeats;
      for (size_t i = 0; i < sizes.size(); ++i) repeats.push_back(number(1, 2));
      return fmt::format("torch.repeat({}, [{}])", value, fmt::join(repeats, ", "));
    }
    case 3:
      return fmt::format("torch.constant_pad_nd({}, [{}, {}], {})", value, number(-1, 2), number(0, 2),
                         pick({"0", "0", "1.5"}));
    default:
      return fmt::format("torch.pad({}, [{}, {}, {}, {}], \"{}\")", value, number(0, 2), number(0, 2), number(0, 2),
                         number(0, 2), pick({"reflect", "replicate", "circular", "constant"}));
  }
}

std::string RandomSteps::reduction(const std::string& value, const Sizes& sizes) {
  switch (number(0, 5)) {
    case 0:
      return fmt::format("torch.{}({}, {}, {})", pick({"mean", "sum", "amax", "amin"}), value, axes(sizes), boolean());
    case 1:
      return fmt::format("torch.{}({}, {}, {}, {})", pick({"var", "std"}), value, axes(sizes), boolean(), boolean());
    case 2:
      return fmt::format("torch.{}({}, {})", pick({"softmax", "log_softmax"}), value, axis(sizes));
    case 3:
      return fmt::format("torch.cumsum({}, {})", value, axis(sizes));
    case 4:
      return fmt::format("torch.norm({}, 2, {}, {})", value, axes(sizes), boolean());
    default:
      return fmt::format("torch.logsumexp({}, {}, {})", value, axes(sizes), boolean());
  }
}

std::string RandomSteps::convolution(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  const int64_t channels = sizes[1];
  const int64_t groups = chance(0.4) ? (chance(0.5) ? channels : 2) : 1;
  if (channels % groups != 0) return "";
  const int64_t per_group = number(1, 3);
  const Sizes kernel{number(1, 3), number(1, 3)};
  const std::string window = fmt::format("[{}, {}], [{}, {}]", number(1, 2), number(1, 3), number(0, 1), number(0, 2));
  const std::string dilation = fmt::format("[{}, {}]", number(1, 2), number(1, 2));
  if (chance(0.25)) {
    const std::string filter = weight({channels, per_group, kernel[0], kernel[1]}, weights);
    const std::string bias = chance(0.5) ? weight({per_group * groups}, weights) : "None";
    return fmt::format("torch.conv_transpose2d({}, {}, {}, {}, [{}, 0], {}, {})", value, filter, bias, window,
                       number(0, 1), groups, dilation);
  }
  const std::string filter = weight({per_group * groups, channels / groups, kernel[0], kernel[1]}, weights);
  const std::string bias = chance(0.5) ? weight({per_group * groups}, weights) : "None";
  return fmt::format("torch.conv2d({}, {}, {}, {}, {}, {})", value, filter, bias, window, dilation, groups);
}

std::string RandomSteps::pool(const std::string& value, const Sizes& sizes) {
  const std::string window = fmt::format("[{}, {}], [{}, {}], [{}, {}]", number(2, 3), number(2, 3), number(1, 3),
                                         number(1, 2), number(0, 1), number(0, 1));
  switch (number(0, 3)) {
    case 0:
      return fmt::format("torch.max_pool2d({}, {}, [1, 1], {})", value, window, boolean());
    case 1:
      return fmt::format("torch.avg_pool2d({}, {}, {}, {})", value, window, boolean(), boolean());
    default:
      return fmt::format("torch.adaptive_{}_pool2d({}, [{}, {}]){}", chance(0.7) ? "avg" : "max", value,
                         number(1, sizes[2]), number(1, sizes[3]), "");
  }
}

std::string RandomSteps::image(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  switch (number(0, 7)) {
    case 0:
    case 1:
    case 2:
      return convolution(value, sizes, weights);
    case 3:
    case 4:
      return pool(value, sizes);
    case 5:
      return fmt::format("torch.upsample_nearest2d({}, [{}, {}], None)", value, number(1, 2 * sizes[2]),
                         number(1, 2 * sizes[3]));
    case 6:
      return fmt::format("torch.upsample_bilinear2d({}, [{}, {}], {}, None)", value, number(1, 2 * sizes[2]),
                         number(1, 2 * sizes[3]), boolean());
    default:
      return fmt::format("torch.{}({}, 2)", pick({"pixel_shuffle", "pixel_unshuffle", "channel_shuffle"}), value);
  }
}

std::string RandomSteps::signal(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  if (chance(0.4)) {
    return fmt::format("torch.{}({}, [{}], [{}], [{}])", pick({"max_pool1d", "avg_pool1d"}), value, number(2, 3),
                       number(1, 2), number(0, 1));
  }
  const std::string filter = weight({number(1, 4), sizes[1], number(1, 3)}, weights);
  return fmt::format("torch.conv1d({}, {}, None, [{}], [{}], [{}])", value, filter, number(1, 2), number(0, 2),
                     number(1, 2));
}

std::string RandomSteps::product(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  const int64_t features = sizes.back();
  switch (number(0, 2)) {
    case 0: {
      const int64_t outputs = number(1, 5);
      const std::string matrix = weight({outputs, features}, weights);
      return fmt::format("torch.linear({}, {}, {})", value, matrix, chance(0.5) ? weight({outputs}, weights) : "None");
    }
    case 1:
      return fmt::format("torch.matmul({}, {})", value, weight({features, number(1, 4)}, weights));
    default:
      return fmt::format("torch.matmul({0}, torch.transpose({0}, -1, -2))", value);
  }
}

// But for batch norm of the input alone: a division by the deviation of values that are nearly equal makes much of what
// was rounded before.
std::string RandomSteps::norm(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  switch (value == "x" ? number(0, 3) : 3) {
    case 0: {
      const std::string scale = weight({sizes.back()}, weights);
      return fmt::format("torch.layer_norm({}, [{}], {}, {})", value, sizes.back(), scale,
                         weight({sizes.back()}, weights));
    }
    case 1:
      return fmt::format("torch.group_norm({}, {})", value, number(1, 2));
    case 2:
      return fmt::format("torch.instance_norm({}, None, None, None, None, True, 0.1, 1e-5, False)", value);
    default: {
      if (sizes.size() < 2) return "";
      const std::string mean = weight({sizes[1]}, weights);
      const std::string variance = fmt::format("torch.add(torch.abs({}), 0.5)", weight({sizes[1]}, weights));
      return fmt::format("torch.batch_norm({}, {}, None, {}, {}, False, 0.1, 1e-5, False)", value,
                         weight({sizes[1]}, weights), mean, variance);
    }
  }
}

std::string RandomSteps::volume(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  const auto three = [&](int64_t low, int64_t high) {
    return fmt::format("[{}, {}, {}]", number(low, high), number(low, high), number(low, high));
  };
  if (chance(0.4)) {
    return fmt::format("torch.{}({}, {}, {}, {})", pick({"max_pool3d", "avg_pool3d"}), value, three(2, 3), three(1, 2),
                       three(0, 1));
  }
  const bool is_depthwise = chance(0.2);
  const int64_t outputs = is_depthwise ? sizes[1] : number(1, 4);
  const std::string filter =
      weight({outputs, is_depthwise ? 1 : sizes[1], number(1, 3), number(1, 3), number(1, 3)}, weights);
  return fmt::format("torch.conv3d({}, {}, None, {}, {}, {}, {})", value, filter, three(1, 2), three(0, 2),
                     chance(0.8) ? "[1, 1, 1]" : three(1, 2), is_depthwise ? sizes[1] : 1);
}

std::string RandomSteps::draw(const std::string& value, const Sizes& sizes, std::vector<Weight>& weights) {
  if (sizes.empty()) return unary(value);
  switch (number(0, 12)) {
    case 0:
    case 1:
      return unary(value);
    case 2:
    case 3:
      return arithmetic(value, sizes, weights);
    case 4:
      return view(value, sizes);
    case 5:
      return part(value, sizes);
    case 6:
      return join(value, sizes);
    case 7:
      return reduction(value, sizes);
    case 8:
      return sizes.size() >= 2 ? product(value, sizes, weights) : "";
    case 9:
      return norm(value, sizes, weights);
    default:
      if (sizes.size() == 5) return volume(value, sizes, weights);
      if (sizes.size() == 4) return image(value, sizes, weights);
      return sizes.size() == 3 ? signal(value, sizes, weights) : "";
  }
}

std::string RandomSteps::draw_quantized(const std::string& value, const Sizes& sizes) {
  if (sizes.empty()) return "";
  switch (number(0, 5)) {
    case 0:
      return fmt::format("torch.{}({})", pick({"relu", "relu6", "sigmoid", "tanh"}), value);
    // PyTorch's own kernels of quantised maps are wrong for what is not contiguous, and for maps of one cell, which are
    // in both layouts at once.
    case 1:
      return sizes.size() == 4 && sizes[2] * sizes[3] > 1 ? pool(fmt::format("torch.contiguous({})", value), sizes)
                                                          : "";
    case 2:
      return view(value, sizes);
    case 3:
      return part(value, sizes);
    case 4:
      return sizes.size() == 4 && sizes[2] * sizes[3] > 1
                 ? fmt::format("torch.upsample_nearest2d(torch.contiguous({}), [{}, {}], None)", value, 2 * sizes[2],
                               2 * sizes[3])
                 : "";
    default:
      return fmt::format("ops.quantized.add({0}, {0}, 0.07, 100)", value);
  }
}

}  // namespace nnapi_convert
