// Buffers of version 1, as PyTorch's stock loader takes them.
#include <cstring>

#include "lib/format/buffer_format.h"
#include "tests/shim/buffer_checks.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Matchers::Contains;

namespace {

// y = x * weight + bias, RELU; x of [2, 3], the weight in buffer 1 from byte 4 on.
std::vector<int32_t> small_net() {
  return {
      1, 5, 3,  1,          1, 1,                                             // header
      3, 2, 0,  0,          3, 2,  0, 0, 3, 1, 0, 0, 1, 0, 0, 0, 3, 2, 0, 0,  // operands
      1, 2, 12, 2,          0, 16, 3, 0, 4,                                   // values
      9, 4, 1,                                                                // FULLY_CONNECTED
      2, 3, 4,  3,          4, 2,  4,                                         // dimensions
      1, 4, 48, 0x3f800000, 0, 0,  0, 1,                                      // weight, bias, RELU
      0, 1, 2,  3,          4, 0,  4,                                         // arguments, input, output
  };
}

enum Word : size_t {
  kOperands = 6,
  kValues = kOperands + 20,
  kOperations = kValues + 9,
  kDims = kOperations + 3,
  kData = kDims + 7,
  kArguments = kData + 8,
  kInput = kArguments + 5,
  kOutput,
  kEnd,
};

struct NumberedBuffers {
  std::vector<uint8_t> first = std::vector<uint8_t>(8), second = std::vector<uint8_t>(52);
  nnapi_shim_buffer list[2] = {{first.data(), first.size()}, {second.data(), second.size()}};
};

std::unique_ptr<const ModelBuffer> parse_words(const std::vector<int32_t>& words, const NumberedBuffers& buffers,
                                               nnapi_shim_error* error) {
  return ModelBuffer::parse_v1(words.data(), words.size(), buffers.list, 2, error);
}

std::string word_refusal(size_t word, int32_t value) {
  std::vector<int32_t> words = small_net();
  words[word] = value;
  nnapi_shim_error error{};
  CHECK(parse_words(words, NumberedBuffers(), &error) == nullptr);
  CHECK(error.status == NNAPI_SHIM_BAD_MODEL);
  return error.message;
}

}  // namespace

TEST_CASE("version 1: a net with a numbered buffer") {
  NumberedBuffers buffers;
  buffers.second[4] = 77;
  nnapi_shim_error error{};
  REQUIRE(small_net().size() == kEnd);
  const auto buffer = parse_words(small_net(), buffers, &error);
  INFO(error.message);
  REQUIRE(buffer != nullptr);
  CHECK(buffer->argument_count() == 1);
  CHECK(buffer->feature_level() == 1);
  CHECK(buffer->weights_match(nullptr));
  const ModelView view = bind_good(*buffer, Shapes({{2, 3}}));
  REQUIRE(view.models.size() == 1);
  const SubgraphView& model = view.models[0];
  REQUIRE(model.operands.size() == 5);
  CHECK(model.operands[1].dims[0] == 4);
  CHECK(model.operands[1].channel_axis == -1);
  REQUIRE(model.values.size() == 3);
  CHECK(model.values[0].source == format::ValueSource::kImmediate);
  CHECK(model.values[0].data == buffers.second.data() + 4);
  CHECK(model.values[0].length == 48);
  float bias = 0;
  std::memcpy(&bias, model.values[1].data, sizeof bias);
  CHECK(bias == 1);
  CHECK(model.values[1].length == 16);
  REQUIRE(model.operations.size() == 1);
  CHECK(model.operations[0].code == 9);
  CHECK(model.operations[0].inputs[3] == 3);
  CHECK(model.input_operands == std::vector<uint32_t>{0});
  CHECK(model.inputs[0].argument == 0);
  CHECK(model.output_operands == std::vector<uint32_t>{4});
  CHECK_THAT(bind_refusal(*buffer, Shapes({{2, 4}})), Contains("axis 1 of argument 0 has size 4, the model needs 3"));
}

TEST_CASE("version 1: sizes that were not written") {
  std::vector<int32_t> words = small_net();
  words[kDims] = words[kDims + 5] = 0;
  nnapi_shim_error error{};
  const NumberedBuffers buffers;
  const auto buffer = parse_words(words, buffers, &error);
  REQUIRE(buffer != nullptr);
  CHECK_THAT(bind_refusal(*buffer, Shapes({{2, 3}})),
             Contains("dimension 0 of operand 0 is 0; write the flexible sizes into a buffer of version 1 before"));
}

TEST_CASE("version 1: refusals name its own words") {
  CHECK_THAT(word_refusal(0, 2), Contains("version 2, 1 needed"));
  CHECK_THAT(word_refusal(1, -1), Contains("at word 1: operand count 4294967295 found, less than 16777216"));
  CHECK_THAT(word_refusal(2, 1 << 24), Contains("at word 2: value count 16777216"));
  CHECK_THAT(word_refusal(3, 100), Contains("operations: "));
  CHECK_THAT(word_refusal(4, 2), Contains("words left, 1 needed"));
  CHECK_THAT(word_refusal(5, 0), Contains("the buffer has 60 words, 59 needed"));
  CHECK_THAT(word_refusal(kOperands + 1, 9), Contains("at word 7: rank 9 found, less than 9 needed"));
  CHECK_THAT(word_refusal(kOperands, 99), Contains("at word 6: type 99 of operand 0"));
  CHECK_THAT(word_refusal(kValues, 9), Contains("at word 26: operand 9 found as a value"));
  CHECK_THAT(word_refusal(kValues + 1, 3), Contains("at word 27: value source 3 found, 0 or 2 needed"));
  CHECK_THAT(word_refusal(kValues + 2, 11), Contains("length 11 of a numbered buffer's value found, 12 needed"));
  CHECK_THAT(word_refusal(kValues + 5, 15), Contains("at word 31: length 15 of the value of operand 2 found, 16"));
  CHECK_THAT(word_refusal(kValues + 5, -1), Contains("value data: "));
  CHECK_THAT(word_refusal(kOperations, -1), Contains("at word 35: code -1 of operation 0"));
  CHECK_THAT(word_refusal(kOperations + 1, -1), Contains("at word 36: input count of an operation 4294967295"));
  CHECK_THAT(word_refusal(kDims, -1), Contains("at word 38: size -1 of axis 0 of argument 0"));
  CHECK_THAT(word_refusal(kDims + 2, -1), Contains("at word 40: dimension 0 of operand 1 is -1"));
  CHECK_THAT(word_refusal(kData, 2), Contains("at word 45: buffer 2 found, 2 are given"));
  CHECK_THAT(word_refusal(kData, -1), Contains("buffer 4294967295 found, 2 are given"));
  CHECK_THAT(word_refusal(kData + 1, 8), Contains("48 bytes from byte 8 of buffer 1 found, which has 52"));
  CHECK_THAT(word_refusal(kData + 1, -4), Contains("48 bytes from byte 4294967292 of buffer 1"));
  CHECK_THAT(word_refusal(kData + 2, 44), Contains("length 44 of the value of operand 1 found, 48 needed"));
  CHECK_THAT(word_refusal(kArguments + 2, 5), Contains("at word 55: operand 5 found as an operation's input"));
  CHECK_THAT(word_refusal(kInput, 5), Contains("at word 58: operand 5 found as a model input"));
  CHECK_THAT(word_refusal(kOutput, 5), Contains("at word 59: operand 5 found as a model output"));
  nnapi_shim_error error{};
  CHECK(ModelBuffer::parse_v1(nullptr, 10, nullptr, 2, &error) == nullptr);
  CHECK(ModelBuffer::parse_v1(small_net().data(), kEnd, nullptr, 2, &error) == nullptr);
  CHECK_THAT(error.message, Contains("buffer 1 found, 0 are given"));
}

TEST_CASE("version 1: truncations and changed words give an error or a model") {
  const NumberedBuffers buffers;
  const std::vector<int32_t> words = small_net();
  for (size_t count = 0; count < words.size(); ++count) {
    nnapi_shim_error error{};
    REQUIRE(parse_words({words.begin(), words.begin() + static_cast<long>(count)}, buffers, &error) == nullptr);
  }
  int refused = 0, bound = 0;
  for (size_t word = 0; word < words.size(); ++word) {
    for (const int32_t value : {0, 1, 2, 3, 4, 8, 12, 64, 1 << 24, 0x40000000, 0x7FFFFFFF, -0x7FFFFFFF - 1, -1}) {
      std::vector<int32_t> changed = words;
      changed[word] = value;
      nnapi_shim_error error{};
      const auto buffer = parse_words(changed, buffers, &error);
      if (buffer == nullptr) {
        REQUIRE(error.status == NNAPI_SHIM_BAD_MODEL);
        ++refused;
        continue;
      }
      const Shapes shapes({{2, 3}});
      ModelView view;
      bound += buffer->bind(shapes.shapes.data(), 1, &view, &error) == NNAPI_SHIM_OK ? 1 : 0;
    }
  }
  CHECK(refused > 100);
  CHECK(bound > 100);
}

TEST_CASE("version 1: the frozen sample") {
  const std::vector<uint8_t> bytes = read_file(std::string(SOURCE_FOLDER) + "/testdata/buffers/v1_small_net.bin");
  const std::vector<uint8_t> first(28), second(100);
  const nnapi_shim_buffer buffers[2] = {{const_cast<uint8_t*>(first.data()), first.size()},
                                        {const_cast<uint8_t*>(second.data()), second.size()}};
  std::vector<int32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  nnapi_shim_error error{};
  const auto buffer = ModelBuffer::parse_v1(words.data(), words.size(), buffers, 2, &error);
  INFO(error.message);
  REQUIRE(buffer != nullptr);
  CHECK(buffer->input_count() == 1);
  CHECK(buffer->output_count() == 2);
}
