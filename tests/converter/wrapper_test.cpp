// SPDX-License-Identifier: BSD-3-Clause
// The emitted module on stock PyTorch and the host's NNAPI: what it checks, what it keeps of the original's interface.
#include <ATen/ATen.h>

#include <catch2/catch.hpp>

#include "tests/converter/fixtures.h"

namespace nnapi_convert {
namespace {

using namespace test;
using Catch::Contains;

constexpr double kRelativeTolerance = 1e-4;

at::Tensor seeded_picture(uint64_t seed = 1) {
  return random_floats({1, 3, 16, 16}, seed);
}

torch::jit::Module converted(const std::string& fixture, const std::vector<std::string>& inputs) {
  return convert_fixture(fixture, options_for(inputs)).runnable_module();
}

}  // namespace

TEST_CASE("another shape is refused with the shape that is needed") {
  const torch::jit::Module module = converted("residual.pt", {"1,3,16,16"});
  CHECK_THAT(run_error(module, {random_floats({1, 3, 16, 15}, 1)}),
             Contains("nnapi-convert: input picture: shape [1, 3, 16, 15] found, [1, 3, 16, 16] needed"));
  CHECK_THAT(run_error(module, {random_floats({3, 16, 16}, 1)}), Contains("shape [3, 16, 16] found"));
  CHECK_THAT(run_error(module, {random_floats({2, 3, 16, 16}, 1)}), Contains("shape [2, 3, 16, 16] found"));
  CHECK(run_error(module, {seeded_picture()}).empty());
}

TEST_CASE("another dtype is refused with the dtype that is needed") {
  const torch::jit::Module module = converted("residual.pt", {"1,3,16,16"});
  for (const at::Tensor& wrong :
       {seeded_picture().to(at::kDouble), seeded_picture().to(at::kInt), quantised(seeded_picture(), 0.1, 128)}) {
    CHECK_THAT(run_error(module, {wrong}), Contains("input picture: dtype number") && Contains("6 (float32) needed"));
  }
}

TEST_CASE("another scale or zero point is refused with what is needed") {
  const torch::jit::Module module = converted("quant_quint8.pt", {"1,3,16,16:quint8:0.03125:128"});
  CHECK(run_error(module, {quantised(seeded_picture(), 0.03125, 128)}).empty());
  CHECK_THAT(run_error(module, {quantised(seeded_picture(), 0.0625, 128)}),
             Contains("input picture: scale 0.0625 found, 0.03125 needed"));
  CHECK_THAT(run_error(module, {quantised(seeded_picture(), 0.03125, 127)}),
             Contains("input picture: zero point 127 found, 128 needed"));
  CHECK_THAT(run_error(module, {seeded_picture()}), Contains("dtype number 6 found, 13 (quint8) needed"));
}

TEST_CASE("checks come on every call, not only the first") {
  const torch::jit::Module module = converted("residual.pt", {"1,3,16,16"});
  CHECK(run_error(module, {seeded_picture()}).empty());
  CHECK_THAT(run_error(module, {random_floats({1, 3, 8, 8}, 1)}), Contains("shape [1, 3, 8, 8] found"));
  CHECK(run_error(module, {seeded_picture(2)}).empty());
}

TEST_CASE("flexible sizes may differ from call to call; the last compilations are kept") {
  const torch::jit::Module module = convert_fixture("residual.pt", options_for({"1,3,?,?"})).runnable_module();
  const torch::jit::Module original = load_fixture("residual.pt").module;
  std::vector<c10::IValue> compilations;
  uint64_t seed = 5;
  for (const int64_t size : {12, 20, 12, 14, 16, 18, 12, 18}) {
    const at::Tensor input = random_floats({1, 3, size, size + 2}, seed++);
    CHECK(relative_error(run(original, {input}).toTensor(), run(module, {input}).toTensor()) < kRelativeTolerance);
    compilations.push_back(module.attr("comp"));
  }
  CHECK(compilations[1].is(compilations[2]));        // 12 is kept
  CHECK_FALSE(compilations[5].is(compilations[6]));  // 12 was the oldest of five
  CHECK(compilations[6].is(compilations[7]));
}

TEST_CASE("fixed sizes of a flexible input are checked") {
  const torch::jit::Module module = converted("residual.pt", {"1,3,?,?"});
  CHECK_THAT(run_error(module, {random_floats({1, 4, 16, 16}, 1)}),
             Contains("[1, 4, 16, 16] found, [1, 3, ?, ?] needed"));
  CHECK_THAT(run_error(module, {random_floats({3, 16, 16}, 1)}), Contains("[3, 16, 16] found, [1, 3, ?, ?] needed"));
}

TEST_CASE("callers may pass channels_last, strided or expanded tensors") {
  const at::Tensor expected = run(load_fixture("residual.pt").module, {seeded_picture()}).toTensor();
  for (const bool nhwc : {false, true}) {
    const torch::jit::Module module =
        convert_fixture("residual.pt", options_for({"1,3,16,16"}, nhwc)).runnable_module();
    const at::Tensor last = seeded_picture().contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor strided = at::stack({seeded_picture(), seeded_picture(2)}, 4).select(4, 0);
    REQUIRE_FALSE(strided.is_contiguous());
    CHECK(relative_error(expected, run(module, {last}).toTensor()) < kRelativeTolerance);
    CHECK(relative_error(expected, run(module, {strided}).toTensor()) < kRelativeTolerance);
    const at::Tensor flat = random_floats({1, 3, 1, 1}, 4).expand({1, 3, 16, 16});
    const at::Tensor of_flat = run(load_fixture("residual.pt").module, {flat}).toTensor();
    CHECK(relative_error(of_flat, run(module, {flat}).toTensor()) < kRelativeTolerance);
  }
}

TEST_CASE("a caller's input stays as it was") {
  const torch::jit::Module module = converted("in_place_input.pt", {"1,3,16,16"});
  const at::Tensor input = seeded_picture();
  run(module, {input});
  CHECK(input.equal(seeded_picture()));
}

TEST_CASE("argument names and order are kept") {
  const torch::jit::Module module = converted("two_input.pt", {"1,3,16,16", "1,2,16,16"});
  const auto& arguments = module.get_method("forward").function().getSchema().arguments();
  REQUIRE(arguments.size() == 3);
  CHECK(arguments[1].name() == "colour");
  CHECK(arguments[2].name() == "depth");
  const at::Tensor depth = random_floats({1, 2, 16, 16}, 2);
  torch::jit::Module copy = module;
  c10::InferenceMode guard;
  const at::Tensor by_name = copy.forward({}, {{"depth", depth}, {"colour", seeded_picture()}}).toTensor();
  CHECK(relative_error(run(load_fixture("two_input.pt").module, {seeded_picture(), depth}).toTensor(), by_name) <
        kRelativeTolerance);
}

TEST_CASE("a tuple stays a tuple") {
  const c10::IValue found = run(converted("tuple_output.pt", {"1,3,16,16"}), {seeded_picture()});
  const c10::IValue expected = run(load_fixture("tuple_output.pt").module, {seeded_picture()});
  REQUIRE(found.isTuple());
  REQUIRE(found.toTupleRef().size() == expected.toTupleRef().size());
  for (size_t i = 0; i < expected.toTupleRef().size(); ++i) {
    const at::Tensor reference = expected.toTupleRef().elements()[i].toTensor();
    CHECK(relative_error(reference, found.toTupleRef().elements()[i].toTensor()) < kRelativeTolerance);
  }
}

TEST_CASE("a list stays a list") {
  const c10::IValue found = run(converted("list_output.pt", {"1,3,16,16"}), {seeded_picture()});
  const c10::IValue expected = run(load_fixture("list_output.pt").module, {seeded_picture()});
  REQUIRE(found.isTensorList());
  REQUIRE(found.toTensorVector().size() == expected.toTensorVector().size());
  for (size_t i = 0; i < expected.toTensorVector().size(); ++i) {
    CHECK(relative_error(expected.toTensorVector()[i], found.toTensorVector()[i]) < kRelativeTolerance);
  }
}

TEST_CASE("a nested structure is kept") {
  const LoadedModel loaded = from_source(
      "def forward(self, x: Tensor) -> Tuple[Tensor, Tuple[Tensor, List[Tensor]]]:\n"
      "  y = torch.relu(x)\n"
      "  return y, (torch.sigmoid(x), [torch.tanh(x), y])\n");
  Diagnostics ignored;
  const c10::IValue found =
      run(convert(loaded, options_for({"2,3"}), ignored).runnable_module(), {random_floats({2, 3}, 1)});
  REQUIRE(found.isTuple());
  const c10::IValue inner = found.toTupleRef().elements()[1];
  REQUIRE(inner.isTuple());
  const auto list = inner.toTupleRef().elements()[1].toTensorVector();
  REQUIRE(list.size() == 2);
  CHECK(list[1].equal(found.toTupleRef().elements()[0].toTensor()));
}

TEST_CASE("outputs that NNAPI can't give come from the wrapper") {
  const auto elements = [](const std::string& fixture) {
    return run(converted(fixture, {"1,3,16,16"}), {seeded_picture()}).toTupleRef().elements().vec();
  };
  const auto with_input = elements("output_is_input.pt");
  CHECK(with_input[1].toTensor().equal(seeded_picture()));
  const auto with_constant = elements("constant_output.pt");
  const auto expected =
      run(load_fixture("constant_output.pt").module, {seeded_picture()}).toTupleRef().elements().vec();
  CHECK(with_constant[1].toTensor().equal(expected[1].toTensor()));
  const auto repeated = elements("repeated_output.pt");
  CHECK(repeated[0].toTensor().equal(repeated[2].toTensor()));
  CHECK_FALSE(repeated[0].toTensor().equal(repeated[1].toTensor()));
}

TEST_CASE("an input that is not read is taken and not checked") {
  const torch::jit::Module module = converted("unused_input.pt", {"1,3,16,16", "1,2"});
  const at::Tensor expected =
      run(load_fixture("unused_input.pt").module, {seeded_picture(), random_floats({1, 2}, 1)}).toTensor();
  CHECK(relative_error(expected, run(module, {seeded_picture(), random_floats({1, 2}, 1)}).toTensor()) <
        kRelativeTolerance);
  CHECK(run_error(module, {seeded_picture(), random_floats({7}, 1)}).empty());
}

TEST_CASE("every float fixture runs in both layouts") {
  for (const char* fixture : {"three_operations.pt", "conv_bn_relu6.pt", "depthwise.pt", "scripted.pt"}) {
    torch::jit::Module original = load_fixture(fixture).module;
    const at::Tensor expected = run(original, {seeded_picture()}).toTensor();
    for (const bool nhwc : {false, true}) {
      INFO(fixture << (nhwc ? " nhwc" : " nchw"));
      const torch::jit::Module module = convert_fixture(fixture, options_for({"1,3,16,16"}, nhwc)).runnable_module();
      CHECK(relative_error(expected, run(module, {seeded_picture()}).toTensor()) < kRelativeTolerance);
    }
  }
}

TEST_CASE("a model traced in training mode is refused with what to do") {
  const std::string message = error_of(ExitCode::kNotConvertible, [] { converted("training_mode.pt", {"1,3,16,16"}); });
  CHECK_THAT(message, Contains("needed: False") && Contains("call model.eval()"));
}

TEST_CASE("every refused operation is reported, with its line") {
  Diagnostics diagnostics;
  const std::string message = error_of(ExitCode::kNotConvertible, [&] {
    convert_fixture("unknown_operations.pt", options_for({"1,3,16,16"}), diagnostics);
  });
  CHECK(diagnostics.refusals.size() == 2);
  for (const Refusal& refusal : diagnostics.refusals) {
    CHECK_THAT(refusal.where, Contains(".py:"));
    CHECK_THAT(message, Contains(refusal.where) && Contains(refusal.op + ": " + refusal.found));
  }
}

}  // namespace nnapi_convert
