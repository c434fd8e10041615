// SPDX-License-Identifier: BSD-3-Clause
// Packages: which model runs on which NNAPI, and that damaged packages are refused.
#include <cmath>
#include <random>

#include "lib/format/package_format.h"
#include "tests/shim/package_maker.h"
#include "tests/shim/session.h"

using namespace nnapi_shim::testing;
namespace package = nnapi_convert::package_format;

namespace {

constexpr int kAdd = 0, kMul = 18, kInt32 = 4;

Description net_of_level(int32_t level) {
  Description net = three_operations();
  net.feature_level = level;
  return net;
}

// A net of one operation with the inputs and outputs of three_operations(): a device that refuses MUL takes it.
Description without_mul() {
  Description net = three_operations();
  for (Operation& operation : net.models[0].operations) operation.code = kAdd;
  return net;
}

// three_operations() with 8-bit integers, uint8 or int8: the input in steps of 0.5 from 10 on, the output in steps of
// 0.25 from 3 on.
Description with_integers(bool is_signed) {
  Description net = three_operations();
  for (Operand& operand : net.models[0].operands) {
    if (operand.type != 3) continue;
    operand.type = is_signed ? 14 : 5;
    operand.scale = operand.name == "y" ? 0.25f : 0.5f;
    operand.zero_point = operand.name == "y" ? 3 : 10;
  }
  net.models[0].values[0].bytes.assign(64, 13);
  return net;
}

class OpenPackage {
 public:
  explicit OpenPackage(MadeBuffer made) : made_(std::move(made)) {
    status_ = nnapi_shim_open_memory(made_.words.data(), made_.words.size(), made_.weights.data(), made_.weights.size(),
                                     &model_, &error_);
  }
  ~OpenPackage() { nnapi_shim_close(model_); }
  OpenPackage(const OpenPackage&) = delete;
  OpenPackage& operator=(const OpenPackage&) = delete;

  int status() const { return status_; }
  std::string message() const { return error_.message; }
  nnapi_shim_model* model() const { return model_; }

  int configure(const std::string& library, uint32_t variant = 0, bool measures = false) {
    nnapi_shim_options options{};
    options.struct_bytes = sizeof options;
    const std::string path = fake_path(library);
    options.library = path.c_str();
    options.variant = variant;
    options.measure_models = measures ? 1 : 0;
    return status_ = nnapi_shim_configure(model_, &options, &error_);
  }

  int run(int64_t rows = 2) {
    const int64_t sizes[] = {rows, 64};
    const nnapi_shim_shape shape = {2, sizes};
    std::vector<uint8_t> input(static_cast<size_t>(rows) * 256, 7), output(input.size());
    const nnapi_shim_buffer from = {input.data(), input.size()}, to = {output.data(), output.size()};
    status_ = nnapi_shim_run(model_, &shape, 1, &from, 1, &to, 1, &error_);
    if (status_ == NNAPI_SHIM_OK) REQUIRE(output == faked({input}, 0, output.size()));
    return status_;
  }

  std::string choice() const {
    char text[1024];
    nnapi_shim_choice(model_, text, sizeof text);
    return text;
  }

 private:
  const MadeBuffer made_;
  nnapi_shim_model* model_ = nullptr;
  nnapi_shim_error error_{};
  int status_ = 0;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("of a package the first model runs whose level the phone has") {
  const std::vector<PackagedNet> nets = {
      {"level=5", net_of_level(5)}, {"level=3", net_of_level(3)}, {"level=1", net_of_level(1)}};
  const std::pair<int, const char*> expected[] = {
      {1, "model 3 of 3 (level=1)"}, {3, "model 2 of 3 (level=3)"}, {5, "model 1 of 3 (level=5)"}};
  for (const auto& [level, text] : expected) {
    const std::string library = "level" + std::to_string(level);
    fake_nnapi::Settings settings;
    settings.level_code = 26 + level;
    fake_nnapi::Fake& nnapi = fresh_fake(library, settings);
    {
      OpenPackage opened(make_package(nets));
      REQUIRE(opened.status() == NNAPI_SHIM_OK);
      CHECK(nnapi_shim_feature_level(opened.model()) == 1);
      REQUIRE(opened.configure(library) == NNAPI_SHIM_OK);
      CHECK(opened.choice().empty());
      INFO(opened.message());
      REQUIRE(opened.run() == NNAPI_SHIM_OK);
      CHECK(opened.choice().rfind(text, 0) == 0);
      if (level == 1) CHECK(contains(opened.choice(), "needs NNAPI feature level 5"));
    }
    check_all_freed(nnapi);
  }
}

TEST_CASE("of a package the model runs of which a device takes most") {
  fake_nnapi::Settings settings;
  settings.devices = {{"phone", 3, 31, {kMul}}, {"nnapi-reference", 2, 31, {}}};
  fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
  {
    OpenPackage opened(make_package({{"all", net_of_level(1)}, {"no_mul", without_mul()}}));
    REQUIRE(opened.configure("level5") == NNAPI_SHIM_OK);
    REQUIRE(opened.run() == NNAPI_SHIM_OK);
    CHECK(opened.choice() ==
          "model 2 of 2 (no_mul); later model 1 of 2 (all): one device takes at most 67 % of its operations");
    CHECK(nnapi.record().calls["ANeuralNetworksCompilation_finish"] == 1);
  }
  check_all_freed(nnapi);
}

TEST_CASE("the options can choose a model of a package") {
  fresh_fake("level5");
  OpenPackage opened(make_package({{"a", net_of_level(1)}, {"b", net_of_level(1)}}));
  CHECK(opened.configure("level5", 3) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(contains(opened.message(), "variant is 3, the file has 2 models"));
  REQUIRE(opened.configure("level5", 2) == NNAPI_SHIM_OK);
  REQUIRE(opened.run() == NNAPI_SHIM_OK);
  CHECK(opened.choice() == "model 2 of 2 (b)");
}

TEST_CASE("a model of a package that can't be compiled is left out") {
  fake_nnapi::Settings settings;
  settings.fail_function = "ANeuralNetworksCompilation_finish";
  fresh_fake("level5", settings);
  OpenPackage opened(make_package({{"a", net_of_level(1)}, {"b", net_of_level(1)}}));
  REQUIRE(opened.configure("level5") == NNAPI_SHIM_OK);
  CHECK(opened.run() == NNAPI_SHIM_REFUSED);
  fake("level5").set({});
  // The first model's refusal is lasting.
  opened.run();
  CHECK(opened.message().find("ANeuralNetworksCompilation_finish") != std::string::npos);
}

TEST_CASE("a package serves the sizes of each of its models") {
  fresh_fake("level5");
  Description two = three_operations(), four = three_operations();
  two.arguments[0] = {2, 64};
  four.arguments[0] = {4, 64};
  OpenPackage opened(make_package({{"two", two}, {"four", four}}));
  REQUIRE(opened.status() == NNAPI_SHIM_OK);
  uint32_t rank = 0;
  int64_t sizes[NNAPI_SHIM_MOST_AXES];
  REQUIRE(nnapi_shim_argument(opened.model(), 0, &rank, sizes, nullptr) == NNAPI_SHIM_OK);
  CHECK(rank == 2);
  CHECK(sizes[0] == 0);
  CHECK(sizes[1] == 64);
  REQUIRE(opened.configure("level5") == NNAPI_SHIM_OK);
  REQUIRE(opened.run(4) == NNAPI_SHIM_OK);
  CHECK(opened.choice() == "model 2 of 2 (four)");
  REQUIRE(opened.run(2) == NNAPI_SHIM_OK);
  CHECK(opened.choice() == "model 1 of 2 (two)");
  CHECK(opened.run(3) == NNAPI_SHIM_BAD_ARGUMENT);
}

TEST_CASE("a package whose models take other tensors is refused") {
  const OpenPackage other_count(make_package({{"a", three_operations()}, {"b", full_net()}}));
  CHECK(other_count.status() == NNAPI_SHIM_BAD_MODEL);
  CHECK(contains(other_count.message(), "has other arguments, inputs or outputs than model 1"));
  // Of the same counts: only what the models are bound to tells.
  fake_nnapi::Settings settings;
  settings.fail_function = "ANeuralNetworksCompilation_finish";
  fresh_fake("level5", settings);
  Description integers = three_operations();
  for (Operand& operand : integers.models[0].operands) operand.type = operand.type == 3 ? kInt32 : operand.type;
  OpenPackage other_type(make_package({{"a", three_operations()}, {"b", integers}}));
  INFO(other_type.message());
  REQUIRE(other_type.status() == NNAPI_SHIM_OK);
  REQUIRE(other_type.configure("level5") == NNAPI_SHIM_OK);
  CHECK(other_type.run() == NNAPI_SHIM_BAD_MODEL);
  CHECK(contains(other_type.message(), "has other inputs or outputs than model 1"));
}

TEST_CASE("callers see floats where one model of a package has integers") {
  for (const bool is_signed : {false, true}) {
    for (const bool is_first : {false, true}) {
      fake_nnapi::Fake& nnapi = fresh_fake("level5");
      {
        std::vector<PackagedNet> nets = {{"integers", with_integers(is_signed)}, {"floats", three_operations()}};
        if (!is_first) std::swap(nets[0], nets[1]);
        OpenPackage opened(make_package(nets));
        INFO(opened.message());
        REQUIRE(opened.status() == NNAPI_SHIM_OK);
        REQUIRE(opened.configure("level5", is_first ? 1 : 2) == NNAPI_SHIM_OK);
        const int64_t sizes[] = {2, 64};
        const nnapi_shim_shape shape = {2, sizes};
        nnapi_shim_tensor tensor;
        for (const auto& describe : {nnapi_shim_input, nnapi_shim_output}) {
          REQUIRE(describe(opened.model(), &shape, 1, 0, &tensor, nullptr) == NNAPI_SHIM_OK);
          CHECK(tensor.type == 3);
          CHECK(tensor.bytes == 512);
          CHECK(tensor.scale == 0);
        }
        std::vector<float> input(128), output(128);
        const int lowest = is_signed ? -128 : 0;
        for (size_t i = 0; i < input.size(); ++i) {
          input[i] = 0.5f * static_cast<float>(lowest + static_cast<int>(i) - 10) + 0.2f;
        }
        input[1] = -1e9f;
        input[2] = 1e9f;
        input[3] = std::nanf("");
        const nnapi_shim_buffer from = {input.data(), 512}, to = {output.data(), 512};
        nnapi_shim_error error{};
        const int status = nnapi_shim_run(opened.model(), &shape, 1, &from, 1, &to, 1, &error);
        INFO(error.message);
        REQUIRE(status == NNAPI_SHIM_OK);
        for (size_t i = 0; i < input.size(); ++i) {
          // The fake adds 1 to each byte.
          int number = lowest + static_cast<int>(i);
          if (i == 1 || i == 3) number = lowest;
          if (i == 2) number = is_signed ? 127 : 255;
          const int found = i == 2 ? lowest : number + 1;
          CHECK(output[i] == 0.25f * static_cast<float>(found - 3));
        }
        const nnapi_shim_buffer wrong = {input.data(), 128};
        CHECK(nnapi_shim_run(opened.model(), &shape, 1, &wrong, 1, &to, 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
        CHECK(std::string(error.message) ==
              "input 0: its buffer has 128 bytes, for arguments of these shapes 512 are needed");
        CHECK(nnapi_shim_run(opened.model(), &shape, 1, &from, 1, nullptr, 0, &error) == NNAPI_SHIM_BAD_ARGUMENT);
      }
      check_all_freed(nnapi);
    }
  }
}

TEST_CASE("sizes that only a model with integers takes have floats outside, too") {
  fresh_fake("level5");
  Description two = with_integers(false), four = three_operations();
  two.arguments[0] = {2, 64};
  four.arguments[0] = {4, 64};
  OpenPackage opened(make_package({{"two", two}, {"four", four}}));
  REQUIRE(opened.status() == NNAPI_SHIM_OK);
  REQUIRE(opened.configure("level5") == NNAPI_SHIM_OK);
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  nnapi_shim_tensor tensor;
  REQUIRE(nnapi_shim_input(opened.model(), &shape, 1, 0, &tensor, nullptr) == NNAPI_SHIM_OK);
  CHECK(tensor.type == 3);
  std::vector<float> input(128, 1.0f), output(128);
  const nnapi_shim_buffer from = {input.data(), 512}, to = {output.data(), 512};
  REQUIRE(nnapi_shim_run(opened.model(), &shape, 1, &from, 1, &to, 1, nullptr) == NNAPI_SHIM_OK);
  CHECK(output[0] == 0.25f * (13 - 3));
  CHECK(opened.choice() == "model 1 of 2 (two)");
}

TEST_CASE("a package whose models all have integers keeps them") {
  fresh_fake("level5");
  OpenPackage opened(make_package({{"a", with_integers(false)}, {"b", with_integers(false)}}));
  REQUIRE(opened.configure("level5") == NNAPI_SHIM_OK);
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  nnapi_shim_tensor tensor;
  REQUIRE(nnapi_shim_output(opened.model(), &shape, 1, 0, &tensor, nullptr) == NNAPI_SHIM_OK);
  CHECK(tensor.type == 5);
  CHECK(tensor.bytes == 128);
}

TEST_CASE("of a package the fastest model runs, where the options ask for measurements") {
  fake_nnapi::Settings settings;
  settings.devices = {{"phone", 3, 31, {}}, {"nnapi-reference", 2, 31, {}}};
  settings.slow_operation = kMul;
  settings.compute_sleep_ms = 5;
  fake_nnapi::Fake& nnapi = fresh_fake("level5", settings);
  {
    OpenPackage opened(
        make_package({{"slow", net_of_level(1)}, {"fast", without_mul()}, {"slow too", net_of_level(3)}}));
    REQUIRE(opened.configure("level5", 0, true) == NNAPI_SHIM_OK);
    REQUIRE(opened.run() == NNAPI_SHIM_OK);
    const std::string choice = opened.choice();
    CHECK(choice.rfind("model 2 of 3 (fast); not model 1 of 3 (slow): a run takes ", 0) == 0);
    CHECK(contains(choice, "; not model 3 of 3 (slow too): a run takes "));
    // Six runs of each, and the app's.
    CHECK(nnapi.record().calls["ANeuralNetworksExecution_burstCompute"] == 3 * 6 + 1);
    // The slower ones are freed: of each kind of object those of one model are left.
    const auto calls = nnapi.record().calls;
    CHECK(calls.at("ANeuralNetworksCompilation_finish") == 3);
    CHECK(calls.at("ANeuralNetworksCompilation_free") == 2);
    REQUIRE(opened.run() == NNAPI_SHIM_OK);
    CHECK(nnapi.record().calls["ANeuralNetworksExecution_burstCompute"] == 3 * 6 + 2);
  }
  check_all_freed(nnapi);
}

TEST_CASE("damaged packages are refused") {
  const MadeBuffer good = make_package({{"a", three_operations()}, {"b", add_net()}});
  const auto message_after = [&](size_t word, int32_t value) {
    MadeBuffer made = good;
    made.words[word] = value;
    seal(made.words);
    const OpenPackage opened(std::move(made));
    CHECK(opened.status() == NNAPI_SHIM_BAD_MODEL);
    return opened.message();
  };
  const size_t entry = package::kHeaderWords;
  CHECK(contains(message_after(package::kVariantCount, 0), "0 models found, 1 to 16 needed"));
  CHECK(contains(message_after(package::kVariantCount, 17), "17 models found"));
  CHECK(contains(message_after(package::kTextBytes, 1 << 13), "bytes of names found"));
  CHECK(contains(message_after(package::kTextBytes, 1), "fewer than 2 names found"));
  CHECK(contains(message_after(package::kWeightBytesLow, 1), "goes with 1 bytes of weights"));
  CHECK(contains(message_after(entry + package::kFirstWord, 1), "model 1"));
  CHECK(contains(message_after(entry + package::kBufferWords, 1 << 30), "model 1"));
  CHECK(contains(message_after(entry + package::kBufferWords, 3), "model 2"));
  CHECK(contains(message_after(entry + package::kWindowLow, 64), "at a multiple of 16384 needed"));
  CHECK(contains(message_after(entry + package::kWindowBytesHigh, 1), "within"));
  CHECK(contains(message_after(entry + package::kWindowHigh, -1), "within"));
  CHECK(contains(message_after(entry + package::kWindowBytesLow, 4), "model 1 of the package"));
  MadeBuffer unsealed = good;
  unsealed.words[entry] ^= 1;
  CHECK(contains(OpenPackage(unsealed).message(), "checksum"));
}

TEST_CASE("no change of a word of a package is dangerous") {
  const MadeBuffer good = make_package({{"a", three_operations()}, {"b", three_operations()}});
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    MadeBuffer made = good;
    const size_t table = package::kHeaderWords + 2 * package::kEntryWords;
    const size_t word = random() % (round % 2 == 0 ? table : made.words.size());
    const int32_t values[] = {0, 1, -1, 0x7FFFFFFF, static_cast<int32_t>(random()), made.words[word] + 1};
    made.words[word] = values[random() % 6];
    if (random() % 8 == 0) made.words.resize(random() % made.words.size());
    if (made.words.size() > 2) seal(made.words);
    const OpenPackage opened(std::move(made));
    if (opened.status() != NNAPI_SHIM_OK) REQUIRE(!opened.message().empty());
  }
}
