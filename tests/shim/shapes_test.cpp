// SPDX-License-Identifier: BSD-3-Clause
// Several shapes of one model, and what callers get wrong.
#include "lib/shim/execution.h"
#include "tests/shim/session.h"

using namespace nnapi_shim::testing;
using fake_nnapi::Settings;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the shapes used last stay compiled") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  {
    Session session(three_operations());
    nnapi_shim_options options{};
    options.max_compiled = 2;
    REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
    const auto compiled = [&] { return nnapi.record().calls["ANeuralNetworksCompilation_finish"]; };
    REQUIRE(session.run(rows(1)) == NNAPI_SHIM_OK);
    REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
    REQUIRE(session.run(rows(1)) == NNAPI_SHIM_OK);
    CHECK(compiled() == 2);
    REQUIRE(session.run(rows(3)) == NNAPI_SHIM_OK);  // drives out 2
    CHECK(nnapi.record().calls["ANeuralNetworksCompilation_free"] == 1);
    REQUIRE(session.run(rows(1)) == NNAPI_SHIM_OK);
    CHECK(compiled() == 3);
    REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
    CHECK(compiled() == 4);
    CHECK(session.profile().compiled == 4);
    // Questions drive nothing out.
    for (int64_t i = 10; i < 40; ++i) session.outputs(rows(i));
    REQUIRE(session.run(rows(1)) == NNAPI_SHIM_OK);
    REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
    CHECK(compiled() == 4);
  }
  check_all_freed(nnapi);
}

TEST_CASE("shapes are told apart") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  Session session(full_net());
  REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
  REQUIRE(session.run(image(4)) == NNAPI_SHIM_OK);
  REQUIRE(session.run({{{1, 3, 2, 8}}, {{1}}}) == NNAPI_SHIM_OK);
  REQUIRE(session.run({{{1, 3, 8, 2}}, {{1}}}) == NNAPI_SHIM_OK);
  CHECK(nnapi.record().calls["ANeuralNetworksCompilation_finish"] == 3);
}

TEST_CASE("tensors of inputs and outputs, without NNAPI") {
  Session session(full_net());
  const int64_t sizes[4] = {2, 3, 4, 5}, one[1] = {1};
  const nnapi_shim_shape shapes[2] = {{4, sizes}, {1, one}};
  nnapi_shim_tensor tensor;
  nnapi_shim_error error;
  REQUIRE(nnapi_shim_input(session.model(), shapes, 2, 0, &tensor, &error) == NNAPI_SHIM_OK);
  CHECK(tensor.type == 5);
  REQUIRE(tensor.rank == 4);
  CHECK(std::vector<uint32_t>(tensor.sizes, tensor.sizes + 4) == std::vector<uint32_t>{2, 4, 5, 3});
  CHECK(tensor.scale == 0.25f);
  CHECK(tensor.zero_point == 128);
  CHECK(tensor.bytes == 120);
  CHECK(tensor.is_nhwc == 1);
  REQUIRE(nnapi_shim_input(session.model(), shapes, 2, 1, &tensor, &error) == NNAPI_SHIM_OK);
  CHECK(tensor.argument == 1);
  CHECK(tensor.is_nhwc == 0);
  REQUIRE(nnapi_shim_output(session.model(), shapes, 2, 0, &tensor, &error) == NNAPI_SHIM_OK);
  CHECK(tensor.bytes == 2 * 2 * 4 * 5);
  CHECK(nnapi_shim_output(session.model(), shapes, 2, 2, &tensor, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(error.message, "output 2 was asked for, the model has 2"));
  CHECK(session.profile().feature_level == 0);
}

TEST_CASE("callers' mistakes") {
  fresh_fake("level5");
  Session session(three_operations());
  REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
  CHECK(session.warm_up({}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "the shapes of 0 arguments were given, the model has 1"));
  CHECK(session.warm_up({{{1, 65}}}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(session.warm_up({{{1, 1, 1, 1, 1, 1, 1, 1, 64}}}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "rank 9"));
  CHECK(session.warm_up({{{-1, 64}}}) == NNAPI_SHIM_BAD_ARGUMENT);
  const nnapi_shim_shape no_sizes = {2, nullptr};
  nnapi_shim_error error;
  CHECK(nnapi_shim_warm_up(session.model(), &no_sizes, 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_warm_up(session.model(), nullptr, 1, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);

  auto from = session.inputs(rows(1)), to = session.outputs(rows(1));
  auto none = from;
  none.clear();
  CHECK(session.run(rows(1), none, to) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "0 inputs and 1 outputs were given, the model has 1 inputs and 1 outputs"));
  auto small = from;
  small[0].resize(255);
  CHECK(session.run(rows(1), small, to) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "input 0: its buffer has 255 bytes, for arguments of these shapes 256 are needed"));
  auto large = to;
  large[0].resize(257);
  CHECK(session.run(rows(1), from, large) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "output 0: its buffer has 257 bytes"));
  const int64_t sizes[2] = {1, 64};
  const nnapi_shim_shape shape = {2, sizes};
  const nnapi_shim_buffer null_input = {nullptr, 256}, output = {to[0].data(), 256};
  CHECK(nnapi_shim_run(session.model(), &shape, 1, &null_input, 1, &output, 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(error.message, "input 0: its buffer is null"));
  CHECK(session.run(rows(1), from, to) == NNAPI_SHIM_OK);
  CHECK(session.message().empty());

  CHECK(session.configure("level5") == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(session.message(), "options can't change any more"));
}

TEST_CASE("a wrong buffer is named, whatever stands behind it") {
  const auto tensor = [](size_t bytes) {
    nnapi_shim_tensor made = {};
    made.bytes = bytes;
    return made;
  };
  nnapi_shim::CallTensors tensors;
  for (const size_t bytes : {16, 8, 12}) tensors.inputs.push_back(tensor(bytes));
  for (const size_t bytes : {4, 20}) tensors.outputs.push_back(tensor(bytes));
  char memory[32];
  for (size_t wrong = 0; wrong <= 5; ++wrong) {
    std::vector<nnapi_shim_buffer> buffers;
    for (const size_t bytes : {16, 8, 12, 4, 20}) buffers.push_back({memory, bytes});
    if (wrong < 5) --buffers[wrong].bytes;
    nnapi_shim_error error{};
    const int status = nnapi_shim::check_buffers({buffers.data(), 3, buffers.data() + 3, 2}, tensors, &error);
    CHECK(status == (wrong < 5 ? NNAPI_SHIM_BAD_ARGUMENT : NNAPI_SHIM_OK));
    if (wrong == 5) continue;
    const std::string name = (wrong < 3 ? "input " : "output ") + std::to_string(wrong < 3 ? wrong : wrong - 3) + ":";
    CHECK(contains(error.message, name));
  }
}

TEST_CASE("null everywhere") {
  nnapi_shim_error error;
  nnapi_shim_model* model = nullptr;
  CHECK(nnapi_shim_open_memory(nullptr, 0, nullptr, 0, &model, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_open_memory("", 0, nullptr, 5, &model, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_open_memory("", 0, nullptr, 0, nullptr, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_open_memory("", 0, nullptr, 0, &model, &error) == NNAPI_SHIM_BAD_MODEL);
  CHECK(model == nullptr);
  CHECK(nnapi_shim_open_file(nullptr, &model, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_open_file("/nowhere.pt", &model, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_open_file("/nowhere.pt", nullptr, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  nnapi_shim_close(nullptr);
  CHECK(nnapi_shim_configure(nullptr, nullptr, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_argument_count(nullptr) == 0);
  CHECK(nnapi_shim_feature_level(nullptr) == 0);
  CHECK(nnapi_shim_input(nullptr, nullptr, 0, 0, nullptr, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_output(nullptr, nullptr, 0, 0, nullptr, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_warm_up(nullptr, nullptr, 0, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_run(nullptr, nullptr, 0, nullptr, 0, nullptr, 0, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_visit_operations(nullptr, nullptr, 0, nullptr, nullptr, nullptr, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  nnapi_shim_get_profile(nullptr, nullptr);
  nnapi_shim_profile profile;
  nnapi_shim_get_profile(nullptr, &profile);
  CHECK(profile.executions == 0);
  nnapi_shim_last_failure(nullptr, &error);
  CHECK(error.status == NNAPI_SHIM_OK);
}
