// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nnapi/passes/random_model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "lib/nnapi/dump.h"
#include "lib/nnapi/passes/choose_layout.h"
#include "lib/nnapi/validate.h"

namespace nnapi_convert::nnapi::testing {
namespace {

// Adds random operations on random values.
class RandomModel {
 public:
  explicit RandomModel(Net& net) : net_(net) {}

  void fill(int operations) {
    for (int64_t i = pick(1, 2); i > 0; --i) values_.push_back(net_.input(kImage, true));
    if (pick(0, 1) == 0) values_.push_back(net_.input(kImage));
    const auto inputs = static_cast<int64_t>(values_.size());
    for (int i = 0; i < operations; ++i) values_.push_back(next_value());
    std::vector<OperandId> outputs(values_.begin() + inputs, values_.end());
    std::shuffle(outputs.begin() + 1, outputs.end(), net_.random);
    outputs.resize(std::min<size_t>(outputs.size(), static_cast<size_t>(pick(1, 3))));
    outputs.push_back(values_.back());
    std::sort(outputs.begin(), outputs.end());
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
    for (const OperandId id : outputs) net_.output(id);
  }

 private:
  static inline const Dims kImage = {2, 3, 4, 5};

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(net_.random); }
  OperandId pick_value() { return values_[static_cast<size_t>(pick(0, static_cast<int64_t>(values_.size()) - 1))]; }
  int64_t size(OperandId id, size_t axis) { return net_.dims(id)[axis].value(); }
  int64_t rank(OperandId id) { return static_cast<int64_t>(net_.dims(id).size()); }
  bool is_small(OperandId id) { return product(net_.dims(id)).value() < 1500; }

  OperandId next_value() {
    while (true) {
      const OperandId x = pick_value();
      const OperandId result = rank(x) == 4 && pick(0, 2) == 0 ? convolutional(x) : any_rank(x);
      if (result >= 0) return result;
    }
  }

  OperandId convolutional(OperandId x) {
    if (!is_small(x)) return -1;
    switch (pick(0, 4)) {
      case 0:
        return net_.conv(x, pick(1, 4));
      case 1:
        return net_.conv(x, pick(1, 4), 2);
      case 2:
        return net_.depthwise(x, pick(1, 2));
      case 3:
        return size(x, 2) > 1 && size(x, 3) > 1 ? net_.max_pool(x) : -1;
      default:
        return net_.binary(OperationCode::MUL, x, net_.weights({size(x, 1), 1, 1}));
    }
  }

  OperandId any_rank(OperandId x) {
    switch (pick(0, 9)) {
      case 0:
        return net_.unary(pick(0, 1) == 0 ? OperationCode::RELU : OperationCode::RELU6, x);
      case 1:
        return binary(x);
      case 2:
        return concatenation(x);
      case 3:
        return mean(x);
      case 4:
        return net_.softmax(x, pick(0, rank(x) - 1));
      case 5:
        return pad(x);
      case 6:
        return slice(x);
      case 7:
        return transpose(x);
      case 8:
        return reshape(x);
      default:
        return rank(x) == 2 ? net_.fully_connected(x, pick(1, 5)) : -1;
    }
  }

  OperandId binary(OperandId x) {
    const auto code = pick(0, 1) == 0 ? OperationCode::ADD : OperationCode::SUB;
    if (pick(0, 1) == 0) {
      const OperandId other = pick_value();
      if (net_.dims(other) != net_.dims(x)) return -1;
      return net_.binary(code, x, other);
    }
    // A constant with some leading axes left off and some of size 1.
    std::vector<int64_t> shape = fixed_values(net_.dims(x));
    shape.erase(shape.begin(), shape.begin() + pick(0, rank(x) - 1));
    for (int64_t& size : shape) size = pick(0, 1) == 0 ? 1 : size;
    return net_.binary(code, x, net_.weights(shape));
  }

  OperandId concatenation(OperandId x) {
    const OperandId other = pick_value();
    if (net_.dims(other) != net_.dims(x) || !is_small(x)) return -1;
    return net_.concatenation({x, other}, pick(-rank(x), rank(x) - 1));
  }

  OperandId mean(OperandId x) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < rank(x); ++axis) {
      if (pick(0, 1) == 0) axes.push_back(pick(0, 1) == 0 ? axis : axis - rank(x));
    }
    if (axes.empty() || static_cast<int64_t>(axes.size()) == rank(x)) return -1;
    return net_.mean(x, axes, pick(0, 1) == 0);
  }

  OperandId pad(OperandId x) {
    if (!is_small(x)) return -1;
    std::vector<int64_t> pairs(static_cast<size_t>(2 * rank(x)));
    for (int64_t& amount : pairs) amount = pick(0, 3) == 0 ? 1 : 0;
    return net_.pad(x, pairs);
  }

  OperandId slice(OperandId x) {
    std::vector<int64_t> begin;
    std::vector<int64_t> end;
    std::vector<int64_t> strides;
    for (size_t axis = 0; axis < net_.dims(x).size(); ++axis) {
      begin.push_back(pick(0, size(x, axis) - 1));
      end.push_back(pick(begin.back() + 1, size(x, axis)));
      strides.push_back(pick(1, 2));
    }
    return net_.strided_slice(x, begin, end, strides, pick(0, 15), pick(0, 15));
  }

  OperandId transpose(OperandId x) {
    std::vector<int64_t> order(static_cast<size_t>(rank(x)));
    std::iota(order.begin(), order.end(), 0);
    if (rank(x) == 4 && pick(0, 1) == 0) return net_.transpose(x, {0, 2, 3, 1});
    std::shuffle(order.begin(), order.end(), net_.random);
    return net_.transpose(x, order);
  }

  // To [first size, the rest], or back to rank 4 with sizes of 1.
  OperandId reshape(OperandId x) {
    const Dim elements = product(net_.dims(x));
    const Dim first = net_.dims(x)[0];
    if (rank(x) == 4) return net_.reshape(x, {first, *elements.exact_div(first)});
    return net_.reshape(x, {first, *elements.exact_div(first), 1, 1});
  }

  Net& net_;
  std::vector<OperandId> values_;
};

}  // namespace

std::vector<Tensor> random_arguments(Net& net) {
  std::vector<Tensor> arguments;
  for (const Boundary& input : net.model.inputs) {
    Tensor argument(fixed_values(net.dims(input.operand)));
    argument.values = random_values(net.random, argument.values.size());
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

void check_same(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
  REQUIRE(before.size() == after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    INFO("output " << i);
    REQUIRE(close(before[i], after[i]));
  }
}

void check_keeps_results(Net& net, const std::function<void(Model&)>& pass) {
  const std::vector<Tensor> arguments = random_arguments(net);
  const std::vector<Tensor> before = run(net.model, arguments);
  pass(net.model);
  INFO(to_text(net.model));
  check_same(before, run(net.model, arguments));
}

void check_choose_layout(Net& net) {
  const std::vector<Tensor> arguments = random_arguments(net);
  Model as_written = net.model;
  for (Boundary& input : as_written.inputs) input.nhwc = false;
  const std::vector<Tensor> before = run(as_written, arguments);
  INFO(to_text(net.model));
  choose_layout(net.model);
  INFO(to_text(net.model));
  check_same(before, run(net.model, arguments));
  CHECK(validate(net.model, 3).empty());
}

void fill_randomly(Net& net, int operations) {
  RandomModel(net).fill(operations);
}

}  // namespace nnapi_convert::nnapi::testing
