// SPDX-License-Identifier: BSD-3-Clause
// Runs: what NNAPI is told, on each feature level.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/shim/model.h"
#include "tests/shim/session.h"
#include "tests/shim/temporary_files.h"

using namespace nnapi_shim::testing;
using fake_nnapi::Record;
using fake_nnapi::Settings;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A device that has all the functions of its level.
Settings level(int64_t code) {
  Settings settings;
  settings.level_code = code;
  return settings;
}

}  // namespace

TEST_CASE("runs on every feature level") {
  for (const std::string library : {"level1", "level2", "level3", "level4", "level5", "support_library"}) {
    INFO(library);
    fake_nnapi::Fake& nnapi = fresh_fake(library, level(1000008));
    {
      Session session(three_operations());
      REQUIRE(session.configure(library) == NNAPI_SHIM_OK);
      for (int i = 0; i < 5; ++i) {
        const int status = session.run(rows(2), static_cast<uint8_t>(i));
        INFO(session.message());
        REQUIRE(status == NNAPI_SHIM_OK);
      }
      CHECK(session.profile().executions == 5);
      CHECK(session.profile().compiled == 1);
      CHECK(session.last_failure().status == NNAPI_SHIM_OK);
    }
    Record record = nnapi.record();
    CHECK(record.violations == std::vector<std::string>{});
    CHECK(record.live == 0);
    CHECK(record.preference == 1);
    const bool has_bursts = library != "level1" && library != "level2";
    CHECK(record.calls["ANeuralNetworksExecution_burstCompute"] == (has_bursts ? 5 : 0));
    CHECK(record.calls["ANeuralNetworksBurst_create"] == (has_bursts ? 1 : 0));
    CHECK(record.calls["ANeuralNetworksExecution_startCompute"] == (has_bursts ? 0 : 5));
    CHECK(record.calls["ANeuralNetworksEvent_wait"] == (has_bursts ? 0 : 5));
  }
}

TEST_CASE("everything that the format has reaches NNAPI") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5", level(31));
  {
    Session session(full_net());
    REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
    const int status = session.run(image(4));
    INFO(session.message());
    REQUIRE(status == NNAPI_SHIM_OK);
  }
  Record record = nnapi.record();
  CHECK(record.violations == std::vector<std::string>{});
  CHECK(record.live == 0);
  CHECK(record.relaxed);
  CHECK(record.calls["ANeuralNetworksModel_relaxComputationFloat32toFloat16"] == 1);
  CHECK(record.calls["ANeuralNetworksModel_create"] == 3);
  CHECK(record.values_from_model == 2);
  CHECK(record.omitted_values == 1);
  CHECK(record.channel_scales == 1);
}

TEST_CASE("a model above the device's level") {
  fresh_fake("level3");
  Session session(full_net());
  REQUIRE(session.configure("level3") == NNAPI_SHIM_OK);
  CHECK(session.warm_up(image(4)) == NNAPI_SHIM_TOO_OLD);
  CHECK(contains(session.message(), "needs NNAPI feature level 4, this device has level 3"));
  CHECK(session.profile().feature_level == 0);
  CHECK(session.last_failure().status == NNAPI_SHIM_TOO_OLD);
}

TEST_CASE("functions that a model needs and the device lacks") {
  fresh_fake("level2");
  Description net = full_net();
  net.feature_level = 1;
  Session session(net);
  REQUIRE(session.configure("level2") == NNAPI_SHIM_OK);
  CHECK(session.warm_up(image(4)) == NNAPI_SHIM_TOO_OLD);
  CHECK(contains(session.message(), "setOperandSymmPerChannelQuantParams of NNAPI's feature level 3"));
}

TEST_CASE("executions are reused where buffers stay") {
  for (const bool reuses : {true, false}) {
    fake_nnapi::Fake& nnapi = fresh_fake("level5");
    {
      Session session(three_operations());
      nnapi_shim_options options{};
      options.no_reuse = reuses ? 0 : 1;
      REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
      auto from = session.inputs(rows(2)), to = session.outputs(rows(2));
      for (uint8_t i = 0; i < 10; ++i) {
        from[0][0] = i;
        REQUIRE(session.run(rows(2), from, to) == NNAPI_SHIM_OK);
        CHECK(to[0][0] == i + 1);
      }
      CHECK(nnapi.record().calls["ANeuralNetworksExecution_create"] == (reuses ? 1 : 10));
      // Others get an execution of their own, and do not drive the first one out.
      auto other_from = from, other_to = to;
      REQUIRE(session.run(rows(2), other_from, other_to) == NNAPI_SHIM_OK);
      REQUIRE(session.run(rows(2), from, to) == NNAPI_SHIM_OK);
      CHECK(nnapi.record().calls["ANeuralNetworksExecution_create"] == (reuses ? 2 : 12));
      // At most four wait.
      std::vector<std::vector<std::vector<uint8_t>>> many(10, to);
      for (auto& buffers : many) REQUIRE(session.run(rows(2), from, buffers) == NNAPI_SHIM_OK);
      CHECK(nnapi.record().calls["ANeuralNetworksExecution_free"] == (reuses ? 8 : 22));
    }
    check_all_freed(nnapi);
  }
}

TEST_CASE("support libraries get an execution for each run") {
  fake_nnapi::Fake& nnapi = fresh_fake("support_library");
  Session session(three_operations());
  REQUIRE(session.configure("support_library") == NNAPI_SHIM_OK);
  auto from = session.inputs(rows(2)), to = session.outputs(rows(2));
  for (int i = 0; i < 3; ++i) REQUIRE(session.run(rows(2), from, to) == NNAPI_SHIM_OK);
  CHECK(nnapi.record().calls["ANeuralNetworksExecution_create"] == 3);
  CHECK(nnapi.record().calls["ANeuralNetworksExecution_setReusable"] == 0);
}

TEST_CASE("bursts that failed leave room for others") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  Session session(three_operations());
  REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
  Settings settings;
  settings.fail_function = "ANeuralNetworksExecution_burstCompute";
  nnapi.set(settings);
  for (int i = 0; i < 8; ++i) CHECK(session.run(rows(2)) == NNAPI_SHIM_FAILED);
  nnapi.set({});
  REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
  CHECK(nnapi.record().calls["ANeuralNetworksExecution_burstCompute"] == 9);
  CHECK(nnapi.record().calls["ANeuralNetworksExecution_compute"] == 0);
}

TEST_CASE("without bursts") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  Session session(three_operations());
  nnapi_shim_options options{};
  options.no_burst = 1;
  REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
  REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
  CHECK(nnapi.record().calls["ANeuralNetworksExecution_compute"] == 1);
  CHECK(nnapi.record().calls["ANeuralNetworksBurst_create"] == 0);
}

TEST_CASE("options reach NNAPI") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  Session session(three_operations());
  nnapi_shim_options options{};
  options.device = "nnapi-reference";
  options.preference = 3;
  options.priority = 110;
  options.compile_timeout_ns = 11;
  options.execute_timeout_ns = 22;
  options.loop_timeout_ns = 33;
  options.measure_timing = 1;
  options.cache_directory = "/cache";
  REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
  REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
  const Record record = nnapi.record();
  CHECK(record.violations == std::vector<std::string>{});
  CHECK(record.preference == 2);
  CHECK(record.priority == 110);
  CHECK(record.compile_timeout == 11);
  CHECK(record.execute_timeout == 22);
  CHECK(record.loop_timeout == 33);
  CHECK(record.measured);
  CHECK(record.cache_directory == "/cache");
  CHECK(record.token.size() == 32);
  CHECK(session.profile().last_on_device_ns == 1234);
  CHECK(session.profile().last_in_driver_ns == 0);
}

TEST_CASE("limits that the device can't keep are refused, hints are not") {
  nnapi_shim_options options{};
  options.device = "nnapi-reference";
  options.execute_timeout_ns = 1;
  fresh_fake("level3");
  Session limited(three_operations());
  REQUIRE(limited.configure("level3", options) == NNAPI_SHIM_OK);
  CHECK(limited.warm_up(rows(1)) == NNAPI_SHIM_TOO_OLD);
  CHECK(contains(limited.message(), "execute_timeout_ns needs NNAPI feature level 4, this device has level 3"));
  options = {};
  options.priority = 110;
  options.cache_directory = "/cache";
  options.loop_timeout_ns = 5;
  fresh_fake("level1");
  Session hinted(three_operations());
  REQUIRE(hinted.configure("level1", options) == NNAPI_SHIM_OK);
  CHECK(hinted.run(rows(1)) == NNAPI_SHIM_OK);
}

TEST_CASE("tokens of cached compilations") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  const auto token = [&](const Description& net, const std::vector<Shape>& shapes) {
    Session session(net);
    nnapi_shim_options options{};
    options.cache_directory = "/cache";
    REQUIRE(session.configure("level5", options) == NNAPI_SHIM_OK);
    REQUIRE(session.warm_up(shapes) == NNAPI_SHIM_OK);
    return nnapi.record().token;
  };
  const std::vector<uint8_t> first = token(three_operations(), rows(1));
  CHECK(token(three_operations(), rows(1)) == first);
  CHECK(token(three_operations(), rows(2)) != first);
  Description other = three_operations();
  other.models[0].values[0].bytes[0] ^= 1;
  CHECK(token(other, rows(1)) != first);
  Description relaxed = three_operations();
  relaxed.relax_fp16 = true;
  CHECK(token(relaxed, rows(1)) != first);
  // The documented form, computed here from its parts.
  const MadeBuffer made = make_buffer(add_net());
  nnapi_shim::Sha256 weights, sum;
  weights.add(made.weights.data(), made.weights.size());
  uint8_t digest[32], expected[32];
  weights.finish(digest);
  const int32_t start[2] = {2, 0};
  sum.add(start, sizeof(start));
  sum.add(made.words.data(), made.words.size() * 4);
  sum.add(digest, 32);
  sum.finish(expected);
  CHECK(token(add_net(), {{{2, 3}}}) == std::vector<uint8_t>(expected, expected + 32));
}

namespace {

// Runs three_operations() with two rows, the input in `from` and the output in `to`, and checks the output.
void check_shared_run(Session& session, const nnapi_shim_place& from, const nnapi_shim_place& to,
                      const std::vector<uint8_t>& input, const uint8_t* output) {
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  nnapi_shim_error error{};
  const int status = nnapi_shim_run_shared(session.model(), &shape, 1, &from, 1, &to, 1, &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  CHECK(std::vector<uint8_t>(output, output + 512) == faked({input}, 0, 512));
}

std::vector<uint8_t> counted_bytes(uint8_t first) {
  std::vector<uint8_t> bytes(512);
  for (uint8_t& byte : bytes) byte = first++;
  return bytes;
}

}  // namespace

TEST_CASE("inputs and outputs in shared memory, from a descriptor and from a hardware buffer") {
  constexpr size_t kBytes = 4096;
  const UnnamedFile file;
  const int fd = file.fd();
  REQUIRE(ftruncate(fd, kBytes) == 0);
  auto* memory = static_cast<uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  struct {
    int fd;
    size_t bytes;
  } stand_in = {fd, kBytes};  // as in fake_nnapi_state.h
  for (const std::string library : {"level1", "level2", "level3", "level4", "level5", "support_library"}) {
    INFO(library);
    fake_nnapi::Fake& nnapi = fresh_fake(library, level(1000008));
    for (const bool is_hardware : {false, true}) {
      Session session(three_operations());
      REQUIRE(session.configure(library) == NNAPI_SHIM_OK);
      nnapi_shim_memory* shared = nullptr;
      nnapi_shim_error error{};
      const auto* buffer = reinterpret_cast<const AHardwareBuffer*>(&stand_in);
      const int status = is_hardware
                             ? nnapi_shim_share_hardware_buffer(session.model(), buffer, kBytes, &shared, &error)
                             : nnapi_shim_share_descriptor(session.model(), fd, 0, kBytes, &shared, &error);
      INFO(error.message);
      if (is_hardware && (library == "level1" || library == "level2")) {
        CHECK(status == NNAPI_SHIM_TOO_OLD);
        CHECK(contains(error.message, "run with plain memory"));
        continue;
      }
      REQUIRE(status == NNAPI_SHIM_OK);
      std::vector<uint8_t> plain_input = counted_bytes(3), plain_output(512);
      const nnapi_shim_place in_memory = {nullptr, 512, shared, 64}, to_memory = {nullptr, 512, shared, 1024},
                             plain_from = {plain_input.data(), 512, nullptr, 0},
                             plain_to = {plain_output.data(), 512, nullptr, 0};
      for (uint8_t first = 0; first < 3; ++first) {
        const std::vector<uint8_t> input = counted_bytes(first);
        std::copy(input.begin(), input.end(), memory + 64);
        check_shared_run(session, in_memory, to_memory, input, memory + 1024);
        check_shared_run(session, in_memory, plain_to, input, plain_output.data());
        check_shared_run(session, plain_from, to_memory, plain_input, memory + 1024);
      }
      CHECK(nnapi.record().shared_tensors == 12 * (is_hardware ? 2 : 1));
      // Runs with plain buffers go on as they did.
      REQUIRE(session.run(rows(2)) == NNAPI_SHIM_OK);
      REQUIRE(session.run(rows(2), 9) == NNAPI_SHIM_OK);
      nnapi_shim_memory_free(shared);
    }
    check_all_freed(nnapi);
  }
  munmap(memory, kBytes);
}

TEST_CASE("shared memory that does not fit") {
  const UnnamedFile file;
  const int fd = file.fd();
  REQUIRE(ftruncate(fd, 1024) == 0);
  fresh_fake("level5");
  Session session(three_operations()), other(three_operations());
  REQUIRE(session.configure("level5") == NNAPI_SHIM_OK);
  REQUIRE(other.configure("level4") == NNAPI_SHIM_OK);
  nnapi_shim_error error{};
  nnapi_shim_memory *shared = nullptr, *foreign = nullptr;
  REQUIRE(nnapi_shim_share_descriptor(session.model(), fd, 0, 1024, &shared, &error) == NNAPI_SHIM_OK);
  REQUIRE(nnapi_shim_share_descriptor(other.model(), fd, 0, 1024, &foreign, &error) == NNAPI_SHIM_OK);
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  std::vector<uint8_t> output(512);
  const nnapi_shim_place to = {output.data(), 512, nullptr, 0};
  const auto refusal = [&](const nnapi_shim_place& from) {
    CHECK(nnapi_shim_run_shared(session.model(), &shape, 1, &from, 1, &to, 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
    return std::string(error.message);
  };
  CHECK(refusal({nullptr, 512, shared, 513}) == "input 0: 512 bytes at byte 513 of a memory of 1024 bytes");
  CHECK(refusal({nullptr, 512, shared, SIZE_MAX}) ==
        "input 0: 512 bytes at byte " + std::to_string(SIZE_MAX) + " of a memory of 1024 bytes");
  CHECK(contains(refusal({nullptr, 256, shared, 0}), "input 0: its buffer has 256 bytes"));
  CHECK(refusal({nullptr, 512, foreign, 0}) == "input 0: its memory was made for a model on another NNAPI library");
  CHECK(contains(refusal({nullptr, 512, nullptr, 0}), "input 0: its buffer is null"));
  nnapi_shim_memory_free(shared);
  nnapi_shim_memory_free(foreign);
  nnapi_shim_memory_free(nullptr);
  Settings settings;
  settings.fail_function = "ANeuralNetworksMemory_createFromFd";
  settings.fail_code = 4;
  fake("level5").set(settings);
  CHECK(nnapi_shim_share_descriptor(session.model(), fd, 0, 1024, &shared, &error) == NNAPI_SHIM_REFUSED);
  CHECK(std::string(error.message).find("NNAPI does not take the memory of 1024 bytes: ") == 0);
  CHECK(shared == nullptr);
}

TEST_CASE("weights go to NNAPI by file, and by pointer where it does not take the file") {
  const MadeBuffer made = make_buffer(three_operations());
  const UnnamedFile file;
  const int fd = file.fd();
  constexpr off_t kOffset = 16384;
  REQUIRE(pwrite(fd, made.weights.data(), made.weights.size(), kOffset) == static_cast<ssize_t>(made.weights.size()));
  for (const bool takes_file : {true, false}) {
    Settings settings;
    if (!takes_file) settings.fail_function = "ANeuralNetworksMemory_createFromFd";
    fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
    {
      nnapi_shim_error error{};
      auto buffer = nnapi_shim::ModelBuffer::parse(made.words.data(), made.words.size(), made.weights.size(), &error);
      REQUIRE(buffer != nullptr);
      nnapi_shim::Weights weights;
      weights.data = made.weights.data();
      weights.bytes = made.weights.size();
      weights.fd = fd;
      weights.file_offset = kOffset;
      nnapi_shim::Model model(std::move(buffer), weights);
      nnapi_shim_options options{};
      options.struct_bytes = sizeof(options);
      const std::string path = fake_path("level5");
      options.library = path.c_str();
      nnapi_shim::Options read;
      REQUIRE(nnapi_shim::read_options(&options, &read, &error) == NNAPI_SHIM_OK);
      REQUIRE(model.configure(read, &error) == NNAPI_SHIM_OK);
      for (const int64_t count : {1, 2}) {
        const int64_t sizes[2] = {count, 64};
        const nnapi_shim_shape shape = {2, sizes};
        REQUIRE(model.warm_up({&shape, 1}, &error) == NNAPI_SHIM_OK);
      }
      nnapi_shim_profile profile;
      model.get_profile(&profile);
      CHECK(profile.weights_are_mapped == (takes_file ? 1 : 0));
      CHECK(profile.weight_bytes == made.weights.size());
    }
    Record record = nnapi.record();
    CHECK(record.live == 0);
    CHECK(record.violations == std::vector<std::string>{});
    CHECK(record.calls["ANeuralNetworksMemory_createFromFd"] == 1);
    CHECK(record.values_from_memory == (takes_file ? 2 : 0));
    CHECK(record.values_by_pointer == (takes_file ? 2 : 4));
  }
}
