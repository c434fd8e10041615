// SPDX-License-Identifier: BSD-3-Clause
// What a program does around NNAPI: names for a file that NNAPI runs whole, and the CPU where NNAPI fails.
#include <string>
#include <vector>

#include "tests/shim/program_file.h"

using namespace nnapi_shim::testing;
using Catch::Contains;

TEST_CASE("a segment that NNAPI can't run is computed by the program's method for it") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  const std::string kCompute = "ANeuralNetworksExecution_burstCompute";
  {
    ProgramMaker make;
    make.add_segment(1, 1, 2);
    make.add_method(method_of(make.segment(0, {0}, {1}), 1, {{"x"}}, "Tensor"));
    const Code on_cpu =
        make.op("aten::add.Scalar", {0, make.integer(2), make.integer(1)}, {1}) + make.make(Opcode::kTuple, {1}, 2);
    MadeMethod method = method_of(on_cpu, 2, {{"0"}}, "Tuple[Tensor]");
    method.name = "segment 0";
    make.add_method(method);
    OpenFile file(make, {three_operations()});
    INFO(file.message());
    REQUIRE(file.status() == NNAPI_SHIM_OK);
    REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
    CHECK(nnapi_shim_method_count(file.model()) == 1);
    const Given x("x", {2, 64}, std::vector<float>(128, 1.5F));
    REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
    CHECK(file.bytes("") == plus(x.bytes, 1));
    CHECK(file.call({x}, "segment 0") == NNAPI_SHIM_BAD_ARGUMENT);
    fake_nnapi::Settings settings;
    settings.fail_function = kCompute;
    nnapi.set(settings);
    const auto on_cpu_result = bytes_of(std::vector<float>(128, 3.5F));
    for (int i = 0; i < 2; ++i) {
      REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
      CHECK(file.bytes("") == on_cpu_result);
    }
    nnapi.set({});  // NNAPI is asked again
    REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
    CHECK(file.bytes("") == plus(x.bytes, 1));
    for (int round = 0; round < 2; ++round) {  // failures count in a row
      nnapi.set(settings);
      for (int i = 0; i < 2; ++i) REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
      nnapi.set({});
      REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
      CHECK(file.bytes("") == plus(x.bytes, 1));
    }
    nnapi.set(settings);
    for (int i = 0; i < 3; ++i) REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
    nnapi.set({});  // after three failures in a row it is not
    const int asked = nnapi.record().calls[kCompute];
    REQUIRE(file.call({x}) == NNAPI_SHIM_OK);
    CHECK(file.bytes("") == on_cpu_result);
    CHECK(nnapi.record().calls[kCompute] == asked);
    CHECK_THAT(file.refusal({Given("x", ScalarType::kInt32, {2, 64}, x.bytes)}), Contains("dtype int32 found"));
  }
  check_all_freed(nnapi);
}

TEST_CASE("without NNAPI the program's methods compute all segments") {
  const bool is_fixed = GENERATE(false, true);
  ProgramMaker make;
  make.add_segment(1, 1, 2);
  make.add_method(method_of(make.segment(0, {0}, {1}), 1, {{"x"}}, "Tensor"));
  MadeMethod method =
      method_of(make.op("aten::relu", {0}, {1}) + make.make(Opcode::kTuple, {1}, 2), 2, {{"0"}}, "Tuple[Tensor]");
  method.name = "segment 0";
  make.add_method(method);
  OpenFile file(make, {is_fixed ? nhwc_net() : three_operations()});
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  nnapi_shim_options options{};
  options.struct_bytes = sizeof options;
  options.library = "/no/such/libneuralnetworks.so";
  REQUIRE(nnapi_shim_configure(file.model(), &options, nullptr) == NNAPI_SHIM_OK);
  nnapi_shim_error error{};
  CHECK(nnapi_shim_warm_up(file.model(), nullptr, 0, &error) == NNAPI_SHIM_OK);  // is left to calls
  CHECK(error.status == NNAPI_SHIM_OK);
  const std::vector<int64_t> sizes = is_fixed ? std::vector<int64_t>{1, 2, 3, 4} : std::vector<int64_t>{2, 64};
  const size_t count = is_fixed ? 24 : 128;
  const Given x("x", sizes, std::vector<float>(count, -1.5F)), wrong("x", {2, 63}, std::vector<float>(126, 1.5F));
  for (int i = 0; i < 5; ++i) {
    const int status = file.call({x});
    INFO(file.message());
    REQUIRE(status == NNAPI_SHIM_OK);
    CHECK(file.bytes("") == bytes_of(std::vector<float>(count, 0)));
    CHECK(file.call({wrong}) == NNAPI_SHIM_BAD_ARGUMENT);
  }
}

TEST_CASE("a file that NNAPI runs whole has a program for names, and runs as without it") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  {
    ProgramMaker make;
    make.add_segment(1, 1);
    make.add_method(method_of(make.segment(0, {0}, {1}) + make.make(Opcode::kDict, {make.text("sum"), 1}, 2), 2,
                              {{"x"}}, "Dict[str, Tensor]"));
    OpenFile file(archive_of(make.make_record(), {three_operations()}, "data/1\ndata/0\n"));
    INFO(file.message());
    REQUIRE(file.status() == NNAPI_SHIM_OK);
    REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
    const std::vector<uint8_t> bytes(512, 3);
    for (const char* name : {"x", "0"}) {
      REQUIRE(file.call({Given(name, ScalarType::kFloat32, {2, 64}, bytes)}) == NNAPI_SHIM_OK);
      CHECK(file.paths() == std::vector<std::string>{"sum"});
      CHECK(file.bytes("sum") == plus(bytes, 1));
    }
    CHECK_THAT(file.refusal({Given("1", ScalarType::kFloat32, {2, 64}, bytes)}),
               Contains("argument 1 is unknown: the method forward has x"));
    const Given given("x", ScalarType::kFloat32, {2, 64}, bytes), again("0", ScalarType::kFloat32, {2, 64}, bytes);
    CHECK_THAT(file.refusal({given, again}), Contains("given twice"));
    // NNAPI's tensors.
    const int64_t sizes[] = {2, 64};
    const nnapi_shim_shape shape = {2, sizes};
    CHECK(nnapi_shim_input_count(file.model()) == 1);
    CHECK(nnapi_shim_output_count(file.model()) == 1);
    std::vector<uint8_t> in(512, 9), out(512);
    const nnapi_shim_buffer input = {in.data(), in.size()}, output = {out.data(), out.size()};
    REQUIRE(nnapi_shim_warm_up(file.model(), &shape, 1, nullptr) == NNAPI_SHIM_OK);
    REQUIRE(nnapi_shim_run(file.model(), &shape, 1, &input, 1, &output, 1, nullptr) == NNAPI_SHIM_OK);
    CHECK(out == plus(in, 1));
  }
  check_all_freed(nnapi);
}
