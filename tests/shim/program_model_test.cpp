// SPDX-License-Identifier: BSD-3-Clause
// Files with a program, and calls by name.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "tests/shim/program_file.h"

using namespace nnapi_shim::testing;
using Catch::Contains;

namespace {

std::atomic<uint64_t> g_allocations{0};

template <typename Body>
void in_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

// Counts all allocations of C++.
void* operator new(size_t bytes) {
  ++g_allocations;
  return std::malloc(bytes);  // NOLINT: that is what it is for
}
void* operator new(size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  ++g_allocations;
  return std::malloc(bytes);  // NOLINT
}
void operator delete(void* memory, const std::nothrow_t& /*nothrow*/) noexcept {
  std::free(memory);  // NOLINT
}
void operator delete(void* memory) noexcept {
  std::free(memory);  // NOLINT
}
void operator delete(void* memory, size_t /*bytes*/) noexcept {
  std::free(memory);  // NOLINT
}

TEST_CASE("a program runs segments, with steps of its own between them") {
  for (const std::string library : {"level1", "level5"}) {
    fake_nnapi::Fake& nnapi = fresh_fake(library);
    {
      ProgramMaker make;
      make.add_segment(1, 1);
      make.add_segment(1, 1);
      const Code code = make.segment(0, {0}, {1}) +
                        make.op("aten::slice.Tensor", {1, make.integer(0), make.integer(0), 3, make.integer(1)}, {2}) +
                        make.segment(1, {2}, {3}) + make.make(Opcode::kTuple, {1, 3}, 4);
      Code with_end = make.op("aten::size.int", {0, make.integer(0)}, {3}) +
                      make.op("aten::floordiv.int", {3, make.integer(2)}, {3}) + code;
      make.add_method(method_of(with_end, 4, {{"x"}}, "Tuple[Tensor, Tensor]"));
      OpenFile file(make, {three_operations(), three_operations()});
      INFO(file.message());
      REQUIRE(file.status() == NNAPI_SHIM_OK);
      REQUIRE(file.configure(library) == NNAPI_SHIM_OK);
      CHECK(nnapi_shim_method_count(file.model()) == 1);
      CHECK(std::string(nnapi_shim_method_name(file.model(), 0)) == "forward");
      CHECK(nnapi_shim_method_name(file.model(), 1) == nullptr);
      CHECK(nnapi_shim_argument_count(file.model()) == 1);
      for (const int64_t rows : {4, 2, 4}) {
        const std::vector<uint8_t> bytes(static_cast<size_t>(rows) * 256, 5);
        const int status = file.call({Given("x", ScalarType::kFloat32, {rows, 64}, bytes)});
        INFO(file.message());
        REQUIRE(status == NNAPI_SHIM_OK);
        CHECK(file.paths() == std::vector<std::string>{"[0]", "[1]"});
        CHECK(file.bytes("[0]") == plus(bytes, 1));
        CHECK(file.bytes("[1]") == std::vector<uint8_t>(bytes.size() / 2, 7));
        CHECK(file.found("[1]").rank == 2);
        CHECK(file.found("[1]").sizes[0] == rows / 2);
      }
      nnapi_shim_profile profile;
      nnapi_shim_get_profile(file.model(), &profile);
      CHECK(profile.executions == 3);
      const int64_t sizes[] = {4, 64};
      const nnapi_shim_shape shape = {2, sizes};
      CHECK(nnapi_shim_warm_up(file.model(), &shape, 1, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
    }
    check_all_freed(nnapi);
  }
}

TEST_CASE("segments of fixed sizes are compiled ahead, others at their first call") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  const auto compiled = [&nnapi] { return nnapi.record().calls["ANeuralNetworksCompilation_finish"]; };
  {
    ProgramMaker make;
    make.add_segment(1, 1);
    make.add_segment(1, 1);
    make.add_method(
        method_of(make.segment(0, {0}, {2}) + make.segment(1, {1}, {3}) + make.make(Opcode::kTuple, {2, 3}, 4), 4,
                  {{"x"}, {"rows"}}, "Tuple[Tensor, Tensor]"));
    OpenFile file(make, {nhwc_net(), three_operations()});
    INFO(file.message());
    REQUIRE(file.status() == NNAPI_SHIM_OK);
    REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
    const int64_t sizes[] = {1, 2, 3, 4};
    const nnapi_shim_shape shapes[] = {{0, nullptr}, {4, sizes}};
    nnapi_shim_error error{};
    CHECK(nnapi_shim_warm_up(file.model(), shapes, 2, &error) == NNAPI_SHIM_BAD_ARGUMENT);
    CHECK_THAT(error.message, Contains("a shape was given for argument 1") && Contains("give none"));
    CHECK(nnapi_shim_warm_up(file.model(), nullptr, 2, &error) == NNAPI_SHIM_BAD_ARGUMENT);
    CHECK(compiled() == 0);
    REQUIRE(nnapi_shim_warm_up(file.model(), nullptr, 0, nullptr) == NNAPI_SHIM_OK);
    CHECK(compiled() == 1);
    REQUIRE(nnapi_shim_warm_up(file.model(), shapes, 1, nullptr) == NNAPI_SHIM_OK);  // as Java's warmUp() does
    CHECK(compiled() == 1);
    const std::vector<uint8_t> bytes(24 * 4, 5), rows(2 * 256, 7);
    REQUIRE(file.call({Given("x", ScalarType::kFloat32, {1, 2, 3, 4}, bytes),
                       Given("rows", ScalarType::kFloat32, {2, 64}, rows)}) == NNAPI_SHIM_OK);
    CHECK(compiled() == 2);
    CHECK(file.bytes("[0]") == plus(bytes, 1));
    CHECK(file.bytes("[1]") == plus(rows, 1));
  }
  check_all_freed(nnapi);
}

TEST_CASE("images go through NNAPI in NHWC and come back in NCHW") {
  fresh_fake("level5");
  ProgramMaker make;
  make.add_segment(1, 1);
  make.add_segment(1, 1);
  make.add_method(method_of(make.segment(0, {0}, {1}) + make.segment(1, {1}, {2}), 2, {{"x"}}, "Tensor"));
  OpenFile file(make, {nhwc_net(), nhwc_net()});
  INFO(file.message());
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
  std::vector<uint8_t> bytes(24 * 4);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  const int status = file.call({Given("x", ScalarType::kFloat32, {1, 2, 3, 4}, bytes)});
  INFO(file.message());
  REQUIRE(status == NNAPI_SHIM_OK);
  CHECK(file.bytes("") == plus(bytes, 2));
  CHECK(file.call({Given("x", ScalarType::kFloat32, {1, 3, 4, 2}, bytes)}) != NNAPI_SHIM_OK);
  CHECK(file.call({Given("x", ScalarType::kInt32, {1, 2, 3, 4}, bytes)}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK_THAT(file.message(), Contains("dtype int32 found, float32 needed"));
}

TEST_CASE("rows that don't follow each other are copied for NNAPI") {
  fresh_fake("level5");
  ProgramMaker make;
  make.add_segment(1, 1);
  const Code every_second =
      make.op("aten::slice.Tensor", {0, make.integer(0), make.integer(0), make.integer(4), make.integer(2)}, {1});
  make.add_method(method_of(every_second + make.segment(0, {1}, {2}), 2, {{"x"}}, "Tensor"));
  OpenFile file(make, {three_operations()});
  INFO(file.message());
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
  std::vector<uint8_t> bytes(4 * 256), expected;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i / 256 * 10 + i % 7);
  for (const size_t row : {0, 2}) expected.insert(expected.end(), &bytes[row * 256], &bytes[row * 256] + 256);
  REQUIRE(file.call({Given("x", ScalarType::kFloat32, {4, 64}, bytes)}) == NNAPI_SHIM_OK);
  CHECK(file.bytes("") == plus(expected, 1));
}

TEST_CASE("files without a program are called by numbers") {
  fresh_fake("level5");
  const std::vector<uint8_t> bytes(512, 3);
  {
    OpenFile file(archive_of({}, {three_operations()}, "data/1\ndata/0\n"));
    REQUIRE(file.status() == NNAPI_SHIM_OK);
    REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
    const int status = file.call({Given("0", ScalarType::kFloat32, {2, 64}, bytes)}, "forward");
    INFO(file.message());
    REQUIRE(status == NNAPI_SHIM_OK);
    CHECK(file.paths() == std::vector<std::string>{""});
    CHECK(file.bytes("") == plus(bytes, 1));
    CHECK_THAT(file.refusal({Given("x", ScalarType::kFloat32, {2, 64}, bytes)}), Contains("argument x is unknown"));
    CHECK_THAT(file.refusal({Given("1", ScalarType::kFloat32, {2, 64}, bytes)}), Contains("argument 1 is unknown"));
    CHECK_THAT(file.refusal({}), Contains("argument 0 is missing"));
    const Given given("0", ScalarType::kFloat32, {2, 64}, bytes);
    CHECK_THAT(file.refusal({given, given}), Contains("argument 0 is given twice"));
    CHECK(file.call({given}, "reset") == NNAPI_SHIM_BAD_ARGUMENT);
    CHECK_THAT(file.message(), Contains("method \"reset\" was asked for, the model has forward"));
  }
  OpenFile chain(archive_of({}, {three_operations(), three_operations()},
                            "segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.0\ns1.0 s0.0\n"));
  REQUIRE(chain.configure("level5") == NNAPI_SHIM_OK);
  REQUIRE(chain.call({Given("0", ScalarType::kFloat32, {2, 64}, bytes)}) == NNAPI_SHIM_OK);
  CHECK(chain.paths() == std::vector<std::string>{"[0]", "[1]"});
  CHECK(chain.bytes("[0]") == plus(bytes, 2));
}

TEST_CASE("arguments are made from paths, and results have paths") {
  const Given one("x[0].a", {2}, {1, 2}), two("x[0][1]", {}, {3}), three("x[1].a", {0}, {}), four("x[1].b", {}, {4});
  ProgramMaker make = echo_of("List[NamedTuple[a: Tensor, b: float]]");
  OpenFile file(make);
  INFO(file.message());
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  REQUIRE(file.call({two, one, four, three}) == NNAPI_SHIM_OK);
  CHECK(file.paths() == std::vector<std::string>{"[0].a", "[0].b", "[1].a", "[1].b"});
  CHECK(file.bytes("[0].a") == one.bytes);
  CHECK(file.bytes("[0][a]") == one.bytes);
  CHECK(file.bytes("[1][\"a\"]").empty());
  CHECK(file.found("[1].b").dtype == NNAPI_SHIM_FLOAT64);
  nnapi_shim_named_tensor tensor{};
  CHECK(nnapi_shim_result_find(file.result(), "[2]", &tensor, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_result_find(file.result(), "[0].", &tensor, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_result_find(file.result(), "", &tensor, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_result_tensor(file.result(), 4, &tensor, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);

  CHECK_THAT(file.refusal({}), Contains("argument x is missing"));
  CHECK_THAT(file.refusal({one}), Contains("x[0].a.b is missing"));
  CHECK_THAT(file.refusal({one, two, one}), Contains("x[0].a is given twice"));
  CHECK_THAT(file.refusal({one, two, three}), Contains("is missing"));
  CHECK_THAT(file.refusal({one, two, four}), Contains("is missing"));
  CHECK_THAT(file.refusal({three, four}), Contains("missing"));
  CHECK_THAT(file.refusal({one, two, Given("y", {}, {1})}),
             Contains("argument y is unknown: the method forward has x"));
  CHECK_THAT(file.refusal({one, two, Given("x[0].c", {}, {1})}), Contains("argument x[0].c is unknown"));
  CHECK_THAT(file.refusal({Given("x.a", {}, {1})}), Contains("a list is needed"));
  CHECK_THAT(file.refusal({Given("x[999999999]", {}, {1})}), Contains("a list is needed"));
  for (const char* path : {"", "x[", "x[0", "x]", "x..a", "x[\"a]", "x[0]a"}) {
    INFO(path);
    CHECK(file.call({one, two, Given(path, {}, {1})}) == NNAPI_SHIM_BAD_ARGUMENT);
  }
  CHECK_THAT(file.refusal({one, Given("x[0].b[1]", {}, {1})}), Contains("a value without elements is needed"));
}

TEST_CASE("dicts have keys in arguments and results") {
  ProgramMaker make = echo_of("Dict[str, List[Tensor]]");
  OpenFile file(make);
  REQUIRE(file.call({Given("x[\"a b\"][0]", {}, {1}), Given("x.boxes[0]", {}, {2}), Given("x[boxes][1]", {}, {3})}) ==
          NNAPI_SHIM_OK);
  CHECK(file.paths() == std::vector<std::string>{"[\"a b\"][0]", "boxes[0]", "boxes[1]"});
  CHECK(file.bytes("boxes[1]") == bytes_of(std::vector<float>{3}));
  CHECK(file.bytes(".boxes[1]") == bytes_of(std::vector<float>{3}));
  CHECK(file.bytes("[a b][0]") == bytes_of(std::vector<float>{1}));
  const char* const odd = R"(["a\\\"b"][0])";  // the key a\"b
  REQUIRE(file.call({Given((std::string("x") + odd).c_str(), {}, {4})}) == NNAPI_SHIM_OK);
  CHECK(file.paths() == std::vector<std::string>{odd});
  CHECK(file.bytes(odd) == bytes_of(std::vector<float>{4}));
}

TEST_CASE("numbers, texts, None and defaults") {
  ProgramMaker make;
  const uint32_t fallback = make.integer(7);
  const Code code = make.make(Opcode::kTuple, {0, 1, 2, 3, 4}, 5);
  make.add_method(method_of(code, 5,
                            {{"i", "int", (fallback & 0x7fffffff) + 1},
                             {"f", "float"},
                             {"b", "bool"},
                             {"s", "str"},
                             {"o", "Optional[Tensor]"}},
                            "Tuple[int, float, bool, str, Optional[Tensor]]"));
  OpenFile file(make);
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  const Given f("f", {}, {2.5f}), b("b", ScalarType::kBool, {}, {1}), s("s", ScalarType::kUInt8, {2}, {'h', 'i'});
  REQUIRE(file.call({f, b, s}) == NNAPI_SHIM_OK);
  CHECK(file.paths() == std::vector<std::string>{"[0]", "[1]", "[2]", "[3]"});
  CHECK(file.integer("[0]") == 7);
  CHECK(file.found("[1]").dtype == NNAPI_SHIM_FLOAT64);
  CHECK(file.bytes("[2]") == std::vector<uint8_t>{1});
  CHECK(file.bytes("[3]") == std::vector<uint8_t>{'h', 'i'});
  REQUIRE(file.call({Given::integer("i", -4), Given::integer("f", 3), b, s, Given("o", {1}, {9})}) == NNAPI_SHIM_OK);
  CHECK(file.integer("[0]") == -4);
  CHECK(file.bytes("[4]") == bytes_of(std::vector<float>{9}));
  CHECK_THAT(file.refusal({Given("i", {}, {1}), f, b, s}),
             Contains("argument i: float32 of rank 0 found, an int needed"));
  CHECK_THAT(file.refusal({Given("f", {1}, {1}), b, s}), Contains("a number: rank 0 needed"));
  CHECK_THAT(file.refusal({f, Given::integer("b", 1), s}), Contains("a bool needed"));
  CHECK_THAT(file.refusal({f, b, Given("s", {}, {1})}), Contains("a text: uint8 of rank 1 needed"));
}

TEST_CASE("tensors that don't fit their description are refused") {
  ProgramMaker make = echo_of("Tensor");
  OpenFile file(make);
  CHECK_THAT(file.refusal({Given("x", {3}, {1, 2})}), Contains("8 bytes found, 12 needed"));
  CHECK_THAT(file.refusal({Given("x", {-1}, {})}), Contains("size -1 found at axis 0"));
  CHECK_THAT(file.refusal({Given("x", static_cast<ScalarType>(8), {}, {1})}), Contains("dtype 8 found"));
  CHECK_THAT(file.refusal({Given("x", static_cast<ScalarType>(-1), {}, {1})}), Contains("dtype -1 found"));
  CHECK_THAT(file.refusal({Given("x", {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})}), Contains("rank 9 found"));
  CHECK_THAT(file.refusal({Given("x", {INT64_MAX, INT64_MAX}, {1})}),
             Contains("size 9223372036854775807 found at axis 0"));
  CHECK(nnapi_shim_call(file.model(), nullptr, nullptr, 1, nullptr, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_call(nullptr, nullptr, nullptr, 0, nullptr, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
  REQUIRE(file.call({Given("x", {2}, {1, 2})}) == NNAPI_SHIM_OK);
  CHECK(nnapi_shim_result_count(nullptr) == 0);
}

TEST_CASE("a failure of NNAPI or of the program ends the call, and the next one works") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  {
    ProgramMaker make;
    make.add_segment(1, 1);
    const Code code = make.segment(0, {0}, {2}) + make.if_(1, {}, make.raise(make.text("bad"), "net.py:3"), {}, {}, {});
    make.add_method(method_of(code, 2, {{"x"}, {"fails", "bool"}}, "Tensor"));
    OpenFile file(make, {three_operations()});
    REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
    const Given x("x", ScalarType::kFloat32, {2, 64}, std::vector<uint8_t>(512));
    const Given yes("fails", ScalarType::kBool, {}, {1}), no("fails", ScalarType::kBool, {}, {0});
    CHECK(file.call({x, yes}) == NNAPI_SHIM_FAILED);
    CHECK(file.message() == "at net.py:3: bad");
    CHECK(file.call({x, no}) == NNAPI_SHIM_OK);
    fake_nnapi::Settings settings;
    settings.fail_function = "ANeuralNetworksExecution_burstCompute";
    nnapi.set(settings);
    CHECK(file.call({x, no}) == NNAPI_SHIM_FAILED);
    CHECK_THAT(file.message(), Contains("NNAPI segment") && Contains("ANeuralNetworksExecution_burstCompute"));
    nnapi.set({});
  }
  check_all_freed(nnapi);
}

TEST_CASE("archives whose program is wrong are refused") {
  ProgramMaker make = echo_of("Tensor");
  const std::vector<uint8_t> good = make.make_record();
  CHECK(OpenFile(archive_of(good, {})).status() == NNAPI_SHIM_OK);
  const auto refusal = [](const std::vector<uint8_t>& archive) {
    const OpenFile file(archive);
    CHECK(file.status() == NNAPI_SHIM_BAD_MODEL);
    return file.message();
  };
  CHECK_THAT(refusal(archive_of(good, {three_operations()})), Contains("other segments than the file has"));
  std::vector<uint8_t> damaged = good;
  damaged[50] ^= 4;
  CHECK_THAT(refusal(archive_of(damaged, {})), Contains("checksum is wrong"));
  for (const char* index :
       {"program 1\n", "program 1\np\n", "program 1\np\nx\n", "program 1\np\n1\n", "program 1\np\n1\na\n",
        "program 1\np\n0\na\n", "program 1\np\n257\n", "program 2\np\n0\n"}) {
    INFO(index);
    CHECK_THAT(refusal(archive_of(good, {}, index)), Contains("nnapi_shim.index"));
  }
  CHECK_THAT(refusal(archive_of(good, {}, "program 1\nextra/other\n0\n")), Contains("has no record"));
  ProgramMaker unknown;
  unknown.add_method(method_of(unknown.op("aten::of_tomorrow", {0}, {1}), 1, {{"x"}}, "Tensor"));
  CHECK_THAT(refusal(archive_of(unknown.make_record(), {})),
             Contains("aten::of_tomorrow") && Contains("newer runtime"));
}

TEST_CASE("a program in an archive at an odd place is copied") {
  ProgramMaker make;
  const uint32_t constant = make.floats({3}, {1, 2, 3});
  make.add_method(method_of({}, constant, {}, "Tensor"));
  const std::vector<uint8_t> archive = archive_of(make.make_record(), {});
  for (size_t shift = 0; shift < 5; ++shift) {
    std::vector<uint8_t> memory(shift);
    memory.insert(memory.end(), archive.begin(), archive.end());
    nnapi_shim_model* model = nullptr;
    REQUIRE(nnapi_shim_open_archive(memory.data() + shift, archive.size(), &model, nullptr) == NNAPI_SHIM_OK);
    nnapi_shim_result* result = nnapi_shim_result_new();
    REQUIRE(nnapi_shim_call(model, nullptr, nullptr, 0, result, nullptr) == NNAPI_SHIM_OK);
    nnapi_shim_named_tensor tensor{};
    REQUIRE(nnapi_shim_result_find(result, "", &tensor, nullptr) == NNAPI_SHIM_OK);
    CHECK(static_cast<const float*>(tensor.data)[2] == 3);
    nnapi_shim_result_free(result);
    nnapi_shim_close(model);
  }
}

TEST_CASE("threads: calls without state run at once", "[threads]") {
  fake_nnapi::Settings settings;
  settings.compute_sleep_ms = 20;
  fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
  {
    ProgramMaker make;
    make.add_segment(1, 1);
    make.add_method(method_of(make.segment(0, {0}, {1}) + make.segment(0, {1}, {1}), 1, {{"x"}}, "Tensor"));
    OpenFile file(make, {three_operations()});
    REQUIRE(file.configure("level5") == NNAPI_SHIM_OK);
    std::atomic<int> worked{0};
    in_threads(8, [&](int i) {
      nnapi_shim_result* result = nnapi_shim_result_new();
      for (int round = 0; round < 5; ++round) {
        const std::vector<Given> given = {
            Given("x", ScalarType::kFloat32, {2, 64}, std::vector<uint8_t>(512, static_cast<uint8_t>(i + round)))};
        const std::vector<nnapi_shim_named_tensor> tensors = tensors_of(given);
        nnapi_shim_named_tensor y{};
        if (nnapi_shim_call(file.model(), nullptr, tensors.data(), 1, result, nullptr) != NNAPI_SHIM_OK) continue;
        if (nnapi_shim_result_find(result, "", &y, nullptr) != NNAPI_SHIM_OK) continue;
        worked += static_cast<const uint8_t*>(y.data)[511] == i + round + 2 ? 1 : 0;
      }
      nnapi_shim_result_free(result);
    });
    CHECK(worked == 40);
    CHECK(nnapi.record().most_at_once > 1);
  }
  check_all_freed(nnapi);
}

TEST_CASE("threads: calls with state wait for each other, and methods reset it", "[threads]") {
  ProgramMaker make;
  make.set_state(make.object({make.integer(0)}));
  const Code add =
      make.get_state(1) + make.get_field(1, 0, 2) + make.op("aten::add.int", {2, 0}, {3}) + make.set_field(1, 0, 3);
  make.add_method(method_of(add, 3, {{"x", "int"}}, "int"));
  MadeMethod reset = method_of(make.get_state(1) + make.set_field(1, 0, make.integer(0)), make.none(), {}, "NoneType");
  reset.name = "reset";
  make.add_method(reset);
  OpenFile file(make);
  INFO(file.message());
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  CHECK(nnapi_shim_method_count(file.model()) == 2);
  in_threads(8, [&](int) {
    const std::vector<Given> given = {Given::integer("x", 1)};
    const std::vector<nnapi_shim_named_tensor> tensors = tensors_of(given);
    for (int i = 0; i < 100; ++i) nnapi_shim_call(file.model(), nullptr, tensors.data(), 1, nullptr, nullptr);
  });
  REQUIRE(file.call({Given::integer("x", 1)}) == NNAPI_SHIM_OK);
  CHECK(file.integer("") == 801);
  REQUIRE(file.call({}, "reset") == NNAPI_SHIM_OK);
  CHECK(nnapi_shim_result_count(file.result()) == 0);
  REQUIRE(file.call({Given::integer("x", 1)}) == NNAPI_SHIM_OK);
  CHECK(file.integer("") == 1);
}

TEST_CASE("calls whose sizes repeat allocate nothing") {
  ProgramMaker make;
  const uint32_t yes = make.boolean(true);
  const Code body = make.op("aten::append.t", {2, 1}, {5}) + make.op("aten::format", {make.text("{}: {}"), 4, 0}, {6});
  const Code code = make.make(Opcode::kList, {}, 2) + make.loop(make.integer(10), yes, {}, {}, {4}, yes, {}, body) +
                    make.make(Opcode::kDict, {make.text("all"), 2, make.text("one"), 1}, 3);
  make.add_method(method_of(code, 3, {{"i", "int"}, {"x"}}, "Dict[str, List[Tensor]]"));
  OpenFile file(make);
  INFO(file.message());
  REQUIRE(file.status() == NNAPI_SHIM_OK);
  const std::vector<Given> given = {Given::integer("i", 3), Given("x", {100}, std::vector<float>(100))};
  const std::vector<nnapi_shim_named_tensor> tensors = tensors_of(given);
  int status = NNAPI_SHIM_OK;
  const auto call = [&] {
    status |= nnapi_shim_call(file.model(), nullptr, tensors.data(), 2, file.result(), nullptr);
  };
  call();
  call();
  const uint64_t before = g_allocations;
  for (int i = 0; i < 10; ++i) call();
  const uint64_t allocations = g_allocations - before;
  CHECK(status == NNAPI_SHIM_OK);
  CHECK(allocations == 0);
  CHECK(nnapi_shim_result_count(file.result()) == 11);
}
