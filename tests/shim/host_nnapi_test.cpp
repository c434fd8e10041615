// SPDX-License-Identifier: BSD-3-Clause
// The shim on the host's NNAPI, which checks models and computes them, at each feature level: by the libraries with
// fewer functions, and by the environment variable.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "tests/shim/session.h"
#include "tests/temporary_folder.h"

using namespace nnapi_shim::testing;

namespace {

using Floats = std::vector<float>;

std::string host_path(int level) {
  const std::string folder = HOST_NNAPI_FOLDER;
  return folder + (level < 5 ? "/level" + std::to_string(level) : "") + "/libneuralnetworks.so";
}

// While it lives, the library with all functions pretends to have this level.
class OfferedLevel {
 public:
  explicit OfferedLevel(int level) { setenv("NNAPI_HOST_FEATURE_LEVEL", std::to_string(level).c_str(), 1); }
  ~OfferedLevel() { unsetenv("NNAPI_HOST_FEATURE_LEVEL"); }
  OfferedLevel(const OfferedLevel&) = delete;
  OfferedLevel& operator=(const OfferedLevel&) = delete;
};

int configure(Session& session, int level, nnapi_shim_options options = {}) {
  const std::string path = host_path(level);
  options.struct_bytes = sizeof(options);
  options.library = path.c_str();
  return nnapi_shim_configure(session.model(), &options, nullptr);
}

Floats run(Session& session, const std::vector<Shape>& shapes, const Floats& input) {
  auto from = session.inputs(shapes), to = session.outputs(shapes);
  REQUIRE(from[0].size() == input.size() * 4);
  std::memcpy(from[0].data(), input.data(), from[0].size());
  const int status = session.run(shapes, from, to);
  INFO(session.message());
  REQUIRE(status == NNAPI_SHIM_OK);
  Floats output(to[0].size() / 4);
  std::memcpy(output.data(), to[0].data(), to[0].size());
  return output;
}

Floats counted(size_t count) {
  Floats numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return numbers;
}

// full_net() leaves out an argument of CONV_2D that NNAPI needs: here with the layout NHWC.
Description valid_net() {
  Description net = full_net();
  Value& layout = net.models[0].values.back();
  REQUIRE(layout.source == format::ValueSource::kOmitted);
  layout.source = format::ValueSource::kImmediate;
  layout.bytes = {0};
  return net;
}

// Returns the results of three_operations().
Floats expected(const Floats& input) {
  Floats output;
  for (const float x : input) output.push_back((x + 1.5f) * (x + 1.5f) + 1.5f);
  return output;
}

}  // namespace

TEST_CASE("host: results on every library") {
  for (int level = 1; level <= 5; ++level) {
    INFO(level);
    Session session(three_operations());
    REQUIRE(configure(session, level) == NNAPI_SHIM_OK);
    for (const int64_t count : {1, 3, 1}) {
      const Floats input = counted(static_cast<size_t>(count) * 64);
      CHECK(run(session, rows(count), input) == expected(input));
    }
    CHECK(session.profile().compiled == 2);
    CHECK(session.profile().feature_level == static_cast<uint32_t>(level < 5 ? level : 8));
  }
}

TEST_CASE("host: int8 weights are float32 for NNAPI") {
  for (int level = 1; level <= 5; ++level) {
    INFO(level);
    Session session(three_operations_int8());
    REQUIRE(configure(session, level) == NNAPI_SHIM_OK);
    for (const int64_t count : {1, 3, 1}) {
      const Floats input = counted(static_cast<size_t>(count) * 64);
      CHECK(run(session, rows(count), input) == expected(input));
    }
  }
}

TEST_CASE("host: float16 weights are float32 for NNAPI") {
  for (int level = 1; level <= 5; ++level) {
    INFO(level);
    Session session(three_operations_float16());
    REQUIRE(configure(session, level) == NNAPI_SHIM_OK);
    for (const int64_t count : {1, 3, 1}) {
      const Floats input = counted(static_cast<size_t>(count) * 64);
      CHECK(run(session, rows(count), input) == expected(input));
    }
  }
}

TEST_CASE("host: results on the device that is named, with limits and timing") {
  Session session(three_operations());
  std::string name;
  const std::string path = host_path(5);
  nnapi_shim_options options{};
  options.struct_bytes = sizeof(options);
  options.library = path.c_str();
  const auto visit = [](void* user, const char* device, const char*, int32_t, int64_t) {
    *static_cast<std::string*>(user) = device;
  };
  REQUIRE(nnapi_shim_visit_devices(&options, visit, &name, nullptr) == NNAPI_SHIM_OK);
  options.device = name.c_str();
  options.measure_timing = 1;
  options.compile_timeout_ns = options.execute_timeout_ns = 60000000000u;
  options.priority = 110;
  REQUIRE(configure(session, 5, options) == NNAPI_SHIM_OK);
  const Floats input = counted(64);
  for (int i = 0; i < 3; ++i) CHECK(run(session, rows(1), input) == expected(input));
  CHECK(session.profile().devices == name);
  CHECK(session.profile().last_on_device_ns > 0);
  CHECK(session.profile().last_in_driver_ns >= session.profile().last_on_device_ns);
}

TEST_CASE("host: executions are reused") {
  Session session(three_operations());
  REQUIRE(configure(session, 5) == NNAPI_SHIM_OK);
  auto from = session.inputs(rows(1)), to = session.outputs(rows(1));
  for (int i = 0; i < 20; ++i) {
    const Floats input(64, static_cast<float>(i));
    std::memcpy(from[0].data(), input.data(), 256);
    REQUIRE(session.run(rows(1), from, to) == NNAPI_SHIM_OK);
    Floats output(64);
    std::memcpy(output.data(), to[0].data(), 256);
    CHECK(output == expected(input));
  }
}

TEST_CASE("host: a time limit that is too short") {
  Session session(three_operations());
  nnapi_shim_options options{};
  std::string name;
  const std::string path = host_path(5);
  options.struct_bytes = sizeof(options);
  options.library = path.c_str();
  const auto visit = [](void* user, const char* device, const char*, int32_t, int64_t) {
    *static_cast<std::string*>(user) = device;
  };
  REQUIRE(nnapi_shim_visit_devices(&options, visit, &name, nullptr) == NNAPI_SHIM_OK);
  options.device = name.c_str();
  options.execute_timeout_ns = 1;
  REQUIRE(configure(session, 5, options) == NNAPI_SHIM_OK);
  auto from = session.inputs(rows(1)), to = session.outputs(rows(1));
  CHECK(session.run(rows(1), from, to) == NNAPI_SHIM_TIMED_OUT);
  CHECK(session.message().find("execute_timeout_ns 1") != std::string::npos);
}

TEST_CASE("host: subgraphs, scales per channel and quantised numbers") {
  Session session(valid_net());
  REQUIRE(configure(session, 5) == NNAPI_SHIM_OK);
  auto from = session.inputs(image(4)), to = session.outputs(image(4));
  for (size_t i = 0; i < from[0].size(); ++i) from[0][i] = static_cast<uint8_t>(100 + i);
  std::vector<std::vector<uint8_t>> sums, products;
  from[1][0] = 1;
  int status = session.run(image(4), from, to);
  INFO(session.message());
  REQUIRE(status == NNAPI_SHIM_OK);
  sums = to;
  from[1][0] = 0;
  REQUIRE(session.run(image(4), from, to) == NNAPI_SHIM_OK);
  products = to;
  CHECK(sums[1] == products[1]);  // the convolution
  CHECK(sums[0] != products[0]);  // the branches
  // y = x + x of scale 0.5 and zero point 7: twice the distance from 7.
  for (size_t i = 0; i < sums[0].size(); ++i) {
    const int x = sums[1][i], sum = std::min(255, std::max(0, 7 + 2 * (x - 7)));
    CHECK(static_cast<int>(sums[0][i]) == sum);
  }
}

TEST_CASE("host: what a lower level refuses, by the library's rules") {
  for (int level = 1; level <= 4; ++level) {
    Session session(valid_net());
    REQUIRE(configure(session, level) == NNAPI_SHIM_OK);
    CHECK(session.warm_up(image(4)) == (level < 4 ? NNAPI_SHIM_TOO_OLD : NNAPI_SHIM_OK));
  }
  // A model that says too little: the device tells.
  Description net = valid_net();
  net.feature_level = 1;
  for (int level = 1; level <= 3; ++level) {
    Session session(net);
    REQUIRE(configure(session, level) == NNAPI_SHIM_OK);
    const int status = session.warm_up(image(4));
    INFO(session.message());
    CHECK((status == NNAPI_SHIM_TOO_OLD || status == NNAPI_SHIM_REFUSED));
    CHECK(session.last_failure().status == status);
  }
}

TEST_CASE("host: inputs and outputs in shared memory, on each level") {
  const int fd = memfd_create("tensors", 0);
  REQUIRE(ftruncate(fd, 4096) == 0);
  auto* memory = static_cast<float*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  const Floats input = counted(64);
  for (int level = 1; level <= 5; ++level) {
    Session session(three_operations());
    REQUIRE(configure(session, level) == NNAPI_SHIM_OK);
    nnapi_shim_memory* shared = nullptr;
    nnapi_shim_error error{};
    REQUIRE(nnapi_shim_share_descriptor(session.model(), fd, 0, 4096, &shared, &error) == NNAPI_SHIM_OK);
    const int64_t sizes[] = {1, 64};
    const nnapi_shim_shape shape = {2, sizes};
    const nnapi_shim_place from = {nullptr, 256, shared, 512}, to = {nullptr, 256, shared, 2048};
    for (int run = 0; run < 2; ++run) {
      std::copy(input.begin(), input.end(), memory + 128);
      std::fill(memory + 512, memory + 576, 0.0f);
      const int status = nnapi_shim_run_shared(session.model(), &shape, 1, &from, 1, &to, 1, &error);
      INFO(error.message);
      REQUIRE(status == NNAPI_SHIM_OK);
      CHECK(Floats(memory + 512, memory + 576) == expected(input));
    }
    nnapi_shim_memory_free(shared);
    // This system has no hardware buffers: NNAPI says so.
    const int word = 0;
    const auto* buffer = reinterpret_cast<const AHardwareBuffer*>(&word);
    const int status = nnapi_shim_share_hardware_buffer(session.model(), buffer, 4096, &shared, &error);
    CHECK(status == (level < 3 ? NNAPI_SHIM_TOO_OLD : NNAPI_SHIM_REFUSED));
  }
  munmap(memory, 4096);
  close(fd);
}

TEST_CASE("host: a cached compilation") {
  const nnapi_convert::test::TemporaryFolder folder;
  nnapi_shim_options options{};
  options.cache_directory = folder.path().c_str();
  const Floats input = counted(64);
  for (int i = 0; i < 2; ++i) {
    Session session(three_operations());
    REQUIRE(configure(session, 5, options) == NNAPI_SHIM_OK);
    CHECK(run(session, rows(1), input) == expected(input));
  }
  // One file was written: the second model found it.
  const std::filesystem::directory_iterator files(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("host: a model that NNAPI refuses") {
  Description net = three_operations();
  net.models[0].operations[1].code = 3;  // CONV_2D with the arguments of MUL
  Session session(net);
  REQUIRE(configure(session, 5) == NNAPI_SHIM_OK);
  CHECK(session.warm_up(rows(1)) == NNAPI_SHIM_REFUSED);
  INFO(session.message());
  CHECK(session.message().find("ANEURALNETWORKS_BAD_DATA") != std::string::npos);
}

TEST_CASE("host: levels by the environment variable") {
  for (const int level : {5, 6, 7, 8}) {
    const OfferedLevel offered(level);
    Session session(three_operations());
    REQUIRE(configure(session, 5) == NNAPI_SHIM_OK);
    const Floats input = counted(64);
    CHECK(run(session, rows(1), input) == expected(input));
  }
}
