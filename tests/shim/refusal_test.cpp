// SPDX-License-Identifier: BSD-3-Clause
// Buffers and shapes that are refused, each with its sentence. The buffer maker makes most of them; words are changed
// where it can't.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/shim/buffer_checks.h"
#include "tests/shim/three_operations.h"

using namespace nnapi_shim;
using namespace nnapi_shim::testing;
using Catch::Contains;
using format::ExpressionKind;
using format::Layout;
using format::ValueSource;

namespace {

using Change = std::function<void(Description&)>;

std::string full_refusal(const Change& change) {
  Description net = full_net();
  change(net);
  return refusal(make_buffer(net));
}

std::string add_refusal(const Change& change) {
  Description net = add_net();
  change(net);
  return refusal(make_buffer(net));
}

// With one word changed, and the checksum right.
std::string word_refusal(const Description& net, size_t word, int32_t value) {
  MadeBuffer made = make_buffer(net);
  REQUIRE(word < made.words.size());
  made.words[word] = value;
  seal(made.words);
  return refusal(made);
}

// Words of add_net().
enum AddWord : size_t {
  kArgument = format::kHeaderWords,                 // rank and two sizes
  kModel = kArgument + 3,                           // counts
  kOperands = kModel + 5,                           // 4
  kValues = kOperands + 4 * format::kOperandWords,  // 2
  kOperations = kValues + 2 * format::kValueWords,  // 1
  kDims = kOperations + format::kOperationWords,    // 3 times 2
  kData = kDims + 6,                                // 1
  kOperationArguments = kData + 1,                  // 3 inputs, 1 output
  kInputs = kOperationArguments + 4,
  kOutputs = kInputs + format::kInputWords,
  kEnd = kOutputs + format::kOutputWords,
};

}  // namespace

TEST_CASE("refused: no words, another version, a short header") {
  CHECK_THAT(refusal({}), Contains("at word 0: the buffer has no words, at least 14 needed"));
  CHECK_THAT(refusal({{5}, {}}), Contains("version 5, 2 to 7 needed; use the nnapi_shim of"));
  CHECK_THAT(refusal({{1, 0, 0}, {}}), Contains("version 1, 2 to 7 needed"));
  CHECK_THAT(refusal({{2, 3, 0}, {}}), Contains("the buffer has 3 words, at least 14 needed"));
  nnapi_shim_error error{};
  CHECK(ModelBuffer::parse(nullptr, 100, 0, &error) == nullptr);
  CHECK(ModelBuffer::parse(nullptr, 100, 0, nullptr) == nullptr);
}

TEST_CASE("refused: checksum and word count") {
  MadeBuffer made = make_buffer(add_net());
  REQUIRE(made.words.size() == kEnd);
  made.words[kData] = 1;
  CHECK_THAT(refusal(made), Contains("at word 2: checksum"));
  seal(made.words);
  parse_good(made);
  CHECK_THAT(word_refusal(add_net(), format::kWordCount, 8), Contains("at word 1: word count 8 found"));
  made.words.push_back(0);
  CHECK_THAT(refusal(made), Contains("at word 1: word count"));
  made.words[format::kWordCount] += 1;
  seal(made.words);
  CHECK_THAT(refusal(made), Contains("words, " + std::to_string(kEnd) + " needed; copy or convert the model again"));
}

TEST_CASE("refused: the header's words") {
  CHECK_THAT(word_refusal(add_net(), format::kFeatureLevel, 0),
             Contains("at word 3: feature level 0 found, at least 1"));
  CHECK_THAT(word_refusal(add_net(), format::kPreference, 3), Contains("at word 4: preference 3 found, 0 to 2"));
  CHECK_THAT(word_refusal(add_net(), format::kPreference, -1), Contains("preference -1 found"));
  CHECK_THAT(word_refusal(add_net(), format::kFlags, 3), Contains("at word 5: flags 3 found, 0 or 1"));
  CHECK_THAT(word_refusal(add_net(), format::kWeightBytesLow, 23), Contains("with 23 bytes of weights, 24 are given"));
  CHECK_THAT(word_refusal(add_net(), format::kWeightBytesHigh, 1),
             Contains("with 4294967320 bytes of weights, 24 are"));
  CHECK_THAT(word_refusal(add_net(), format::kModelCount, 0), Contains("at word 12: model count 0 found, at least 1"));
  CHECK_THAT(word_refusal(add_net(), format::kTextBytes, 4), Contains("names of operands: 0 words left, 4 needed"));
}

TEST_CASE("refused: counts that are too large or more than the buffer") {
  const std::vector<std::pair<size_t, std::string>> counts = {
      {format::kArgumentCount, "argument count"},
      {format::kExpressionCount, "expression count"},
      {format::kPatchCount, "patch count"},
      {format::kModelCount, "model count"},
      {kModel, "operand count"},
      {kModel + 1, "value count"},
      {kModel + 2, "operation count"},
      {kModel + 3, "input count"},
      {kModel + 4, "output count"},
      {kOperands + 5, "channel scale count"},
      {kOperations + 1, "input count of an operation"},
      {kOperations + 2, "output count of an operation"},
  };
  for (const auto& [word, name] : counts) {
    const std::string place = "at word " + std::to_string(word) + ": " + name;
    CHECK_THAT(word_refusal(add_net(), word, -1), Contains(place + " 4294967295 found, less than 16777216 needed"));
    CHECK_THAT(word_refusal(add_net(), word, 1 << 24), Contains(place + " 16777216 found"));
    CHECK_THAT(word_refusal(add_net(), word, (1 << 24) - 1), Contains(" needed"));
  }
  CHECK_THAT(word_refusal(add_net(), kArgument, 9), Contains("rank 9 of an argument found, at most 8 needed"));
  CHECK_THAT(word_refusal(add_net(), kArgument, -1), Contains("rank 4294967295"));
  CHECK_THAT(word_refusal(add_net(), kOperands + 1, 0x40000000), Contains("rank 1073741824 of an operand found"));
}

TEST_CASE("refused: sizes of arguments") {
  CHECK_THAT(word_refusal(add_net(), kArgument + 1, -2),
             Contains("at word 15: size -2 of axis 0 of argument 0 found, 0 or more needed"));
}

TEST_CASE("refused: operands") {
  CHECK_THAT(word_refusal(add_net(), kOperands, 16), Contains("type 16 of operand 0 found, 0 to 15 needed"));
  CHECK_THAT(word_refusal(add_net(), kOperands, -1), Contains("type -1 of operand 0"));
  CHECK_THAT(word_refusal(add_net(), kOperands, 0), Contains("rank 2 of operand 0 of type 0 found, 0 needed"));
  CHECK_THAT(word_refusal(add_net(), kOperands + 2 * format::kOperandWords, 4),
             Contains("rank 0 of operand 2 of type 4 found, at least 1 needed"));
  CHECK_THAT(word_refusal(add_net(), kDims + 1, -3),
             Contains("dimension 1 of operand 0 is -3, at least 1 where no expression gives it needed"));
  CHECK_THAT(word_refusal(add_net(), kDims + 1, 0), Contains("dimension 1 of operand 0 is 0, at least 1"));
  CHECK_THAT(word_refusal(add_net(), kDims + 1, 0x20000000), Contains("operand 0 has 4 GiB or more, less needed"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[0].dims[1].number = 5; }),
             Contains("dimension 1 of operand 0 is 5, 0 where an expression gives it needed"));
}

TEST_CASE("refused: channel scales") {
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[2].channel_axis = 4; }),
             Contains("channel axis 4 of operand 2 found, 0 to 3 needed"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[2].channel_axis = -1; }),
             Contains("channel axis -1 of operand 2 found"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[2].channel_axis = 3; }),
             Contains("2 channel scales of operand 2 found, 3 needed, as many as axis 3 has elements"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[2].channel_scales.clear(); }),
             Contains("0 channel scales of operand 2 found, 2 needed"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[0].channel_axis = 0; }),
             Contains("channel axis 0 of operand 0 of type 5 found, -1 needed"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[0].channel_scales = {1}; }),
             Contains("1 channel scales of operand 0 of type 5 found, 0 needed"));
}

TEST_CASE("refused: a channel axis of flexible size") {
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operands[2].dims[0] = Size::of_expression(0); }),
             Contains("2 channel scales of operand 2 found, 0 needed"));
}

TEST_CASE("refused: indices of operands") {
  CHECK_THAT(word_refusal(add_net(), kValues, 4), Contains("operand 4 found as a value, the model has 4 operands"));
  CHECK_THAT(word_refusal(add_net(), kOperationArguments, -1),
             Contains("operand 4294967295 found as an operation's input, the model has 4"));
  CHECK_THAT(word_refusal(add_net(), kOperationArguments + 3, 4), Contains("operand 4 found as an operation's output"));
  CHECK_THAT(word_refusal(add_net(), kInputs, 4), Contains("operand 4 found as a model input"));
  CHECK_THAT(word_refusal(add_net(), kOutputs, 4), Contains("operand 4 found as a model output"));
}

TEST_CASE("refused: values") {
  CHECK_THAT(word_refusal(add_net(), kValues + 1, 4), Contains("value source 4 found, 0 to 3 needed"));
  CHECK_THAT(word_refusal(add_net(), kValues + 6, 1), Contains("a value of operand 1 found, which is another value"));
  CHECK_THAT(word_refusal(add_net(), kValues + 6, 0), Contains("a value of operand 0 found, which is a model input"));
  CHECK_THAT(add_refusal([](Description& net) {
               Value value;
               value.operand = 3;
               value.bytes.resize(24);
               net.models[0].values.push_back(value);
             }),
             Contains("operand 3 found as operation 0's output, which is a value"));
  CHECK_THAT(word_refusal(add_net(), kValues + 6 + 2, 4),
             Contains("offset 4 of the value of operand 2 found, 0 needed"));
  CHECK_THAT(word_refusal(add_net(), kValues + 6 + 4, 3),
             Contains("length 3 of the value of operand 2 found, 4 needed"));
  CHECK_THAT(word_refusal(add_net(), kValues + 6 + 5, 1), Contains("value data: 10 words left, 1073741825 needed"));
  CHECK_THAT(word_refusal(add_net(), kValues + 6 + 5, -1), Contains("value data: 10 words left"));
  MadeBuffer made = make_buffer(add_net());
  made.words[kValues + 6 + 4] = made.words[kValues + 6 + 5] = -1;
  seal(made.words);
  CHECK_THAT(refusal(made), Contains("value data: 10 words left, 4611686018427387904 needed"));
}

TEST_CASE("refused: ranges of the weights") {
  CHECK_THAT(word_refusal(add_net(), kValues + 2, 4),
             Contains("offset 4 of the value of operand 1 found, a multiple of 64 needed"));
  CHECK_THAT(word_refusal(add_net(), kValues + 2, 64), Contains("offset 64 of the value of operand 1 found, a range"));
  CHECK_THAT(word_refusal(add_net(), kValues + 3, -1),
             Contains("offset 18446744069414584320 of the value of operand 1"));
  CHECK_THAT(word_refusal(add_net(), kValues + 4, 20),
             Contains("length 20 of the value of operand 1 found, 24 needed"));
  CHECK_THAT(word_refusal(add_net(), kValues + 4, 28), Contains("offset 0 of the value of operand 1 found, a range"));
  CHECK_THAT(word_refusal(add_net(), kValues + 5, -1), Contains("a range within the weights needed"));
}

TEST_CASE("refused: padding of values that is not 0") {
  Description net = full_net();
  net.models[0].operands[5].type = 6;  // BOOL
  net.models[0].values[3].bytes = {0};
  MadeBuffer made = make_buffer(net);
  parse_good(made);
  const auto view = parse_good(made);
  // The BOOL's word follows that of operand 4, which is 1.
  ModelView bound = bind_good(*view, Shapes({{1, 3, 2, 2}, {1}}));
  const auto word =
      static_cast<size_t>(static_cast<const int32_t*>(bound.models[0].values[3].data) - bound.words->data());
  CHECK_THAT(word_refusal(net, word, 256), Contains("padding of the value of operand 5 is not 0"));
  CHECK_THAT(word_refusal(net, word, 1 << 24), Contains("padding of the value of operand 5 is not 0"));
}

TEST_CASE("refused: omitted operands and models as values") {
  const auto value = [](size_t number, const std::function<void(Value&)>& change) {
    return full_refusal([&](Description& net) { change(net.models[0].values[number]); });
  };
  CHECK_THAT(value(7, [](Value& v) { v.bytes = {1}; }),
             Contains("length 1 of the value of operand 12 found, 0 needed"));
  CHECK_THAT(value(5, [](Value& v) { v.source = ValueSource::kOmitted; }),
             Contains("operand 9 is a MODEL that is left out"));
  CHECK_THAT(value(5, [](Value& v) { v.source = ValueSource::kImmediate; }),
             Contains("bytes found as value of operand 9, which is a MODEL"));
  CHECK_THAT(value(5, [](Value& v) { v.source = ValueSource::kWeight; }), Contains("which is a MODEL"));
  CHECK_THAT(value(5, [](Value& v) { v.model = 0; }),
             Contains("offset 0 of the value of operand 9 found, a later model's number needed"));
  CHECK_THAT(value(5, [](Value& v) { v.model = 3; }), Contains("offset 3 of the value of operand 9"));
  CHECK_THAT(value(5, [](Value& v) { v.bytes = {1}; }), Contains("length 1 of the value of operand 9 found, 0 needed"));
  CHECK_THAT(value(7,
                   [](Value& v) {
                     v.source = ValueSource::kModel;
                     v.model = 1;
                   }),
             Contains("a model found as value of operand 12, no MODEL"));
}

TEST_CASE("refused: subgraphs that name earlier ones") {
  CHECK_THAT(full_refusal([](Description& net) {
               Model& model = net.models[2];
               model.operands.push_back({15, {}, 0, 0, -1, {}, ""});
               Value value;
               value.operand = 3;
               value.source = ValueSource::kModel;
               value.model = 1;
               model.values.push_back(value);
             }),
             Contains("offset 1 of the value of operand 3 found, a later model's number needed"));
}

TEST_CASE("refused: operations") {
  CHECK_THAT(word_refusal(add_net(), kOperations, -1), Contains("code -1 of operation 0 found, 0 to 65535 needed"));
  CHECK_THAT(word_refusal(add_net(), kOperations, 65536), Contains("code 65536 of operation 0"));
  CHECK_THAT(word_refusal(add_net(), kOperationArguments + 3, 0),
             Contains("operand 0 found as operation 0's output, which is a model input"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].operations[1].outputs = {6}; }),
             Contains("operand 6 found as operation 1's output, which is another operation's output"));
  CHECK_THAT(add_refusal([](Description& net) {
               net.models[0].operands.push_back(net.models[0].operands[0]);
               net.models[0].operations[0].inputs[0] = 4;
             }),
             Contains("operand 4 found in an operation, which is no input, value or output of any"));
}

TEST_CASE("refused: model inputs and outputs") {
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].inputs[1].operand = 0; }),
             Contains("operand 0 is a model input twice"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[0].outputs[1].operand = 11; }),
             Contains("operand 11 is a model output twice"));
  CHECK_THAT(word_refusal(add_net(), kOutputs, 0),
             Contains("as a model output, which is a model input, an operation's"));
  CHECK_THAT(word_refusal(add_net(), kOutputs, 1), Contains("as a model output, which is a value"));
  CHECK_THAT(add_refusal([](Description& net) {
               net.models[0].operands.push_back(net.models[0].operands[0]);
               net.models[0].outputs[0].operand = 4;
             }),
             Contains("operand 4 found as a model output, which is nothing"));
  CHECK_THAT(word_refusal(add_net(), kInputs + 1, 1),
             Contains("argument 1 of model input 0 found, one of the header's"));
  CHECK_THAT(word_refusal(add_net(), kInputs + 1, -1), Contains("argument -1 of model input 0"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[1].inputs[0].argument = 0; }),
             Contains("argument 0 of model input 0 found, -1 in a subgraph needed"));
  CHECK_THAT(word_refusal(add_net(), kInputs + 2, 2), Contains("layout 2 found, 0 or 1 needed"));
  CHECK_THAT(word_refusal(add_net(), kInputs + 2, 1), Contains("layout NHWC found for operand 0 of rank 2 of model 0"));
  CHECK_THAT(word_refusal(add_net(), kOutputs + 1, -1), Contains("layout -1 found"));
  CHECK_THAT(full_refusal([](Description& net) { net.models[1].inputs[0].layout = Layout::kNhwc; }),
             Contains("of model 1, rank 4 of model 0 needed"));
}

TEST_CASE("refused: expressions") {
  const auto expression = [](ExpressionKind kind, int32_t a, int32_t b) {
    return full_refusal([&](Description& net) { net.expressions[4] = {kind, a, b}; });
  };
  CHECK_THAT(expression(static_cast<ExpressionKind>(5), 0, 0), Contains("expression kind 5 found, 0 to 4 needed"));
  CHECK_THAT(expression(static_cast<ExpressionKind>(-1), 0, 0), Contains("expression kind -1 found"));
  CHECK_THAT(expression(ExpressionKind::kSize, 2, 0), Contains("argument 2 found in an expression, the model has 2"));
  CHECK_THAT(expression(ExpressionKind::kSize, -1, 0), Contains("argument 4294967295 found"));
  CHECK_THAT(expression(ExpressionKind::kSize, 1, 1), Contains("axis 1 found in an expression, argument 1 has rank 1"));
  for (const auto kind : {ExpressionKind::kSum, ExpressionKind::kProduct, ExpressionKind::kFloorDiv}) {
    CHECK_THAT(expression(kind, 4, 0), Contains("expression 4 found in expression 4, an earlier one needed"));
    CHECK_THAT(expression(kind, 0, 5), Contains("expression 5 found in expression 4, an earlier one needed"));
    CHECK_THAT(expression(kind, -1, 0), Contains("expression 4294967295 found in expression 4"));
  }
}

TEST_CASE("refused: conditions") {
  const auto refused = [](const std::function<void(Condition&)>& change) {
    Description net = conditional_net();
    change(net.conditions[1]);
    return refusal(make_buffer(net));
  };
  CHECK_THAT(refused([](Condition& each) { each.kind = static_cast<format::ConditionKind>(3); }),
             Contains("condition kind 3 found, 0 to 2 needed"));
  CHECK_THAT(refused([](Condition& each) { each.left = 12; }), Contains("expression 12 found, less than 12 needed"));
  CHECK_THAT(refused([](Condition& each) { each.right = -1; }), Contains("expression 4294967295 found"));
  CHECK_THAT(refused([](Condition& each) { each.text = ""; }), Contains("text of 0 bytes found, 2 to 4096 needed"));
  CHECK_THAT(refused([](Condition& each) { each.text.resize(4100); }), Contains("text of 4100 bytes found"));
  for (const std::string& text : {std::string("a\0b", 3), std::string("a\0", 2), std::string("a\0b\0c\0", 6)}) {
    CHECK_THAT(refused([&](Condition& each) { each.text = text; }),
               Contains("text of a condition without two strings found"));
  }
  Description none = conditional_net();
  none.conditions.clear();
  CHECK_THAT(refusal(make_buffer(none)), Contains("0 conditions found, 1 to 1024 needed"));
}

TEST_CASE("refused: patches") {
  const Description net = full_net();
  const MadeBuffer made = make_buffer(net);
  const size_t patches =
      format::kHeaderWords + 5 + 2 + net.expressions.size() * format::kExpressionWords;  // 5 and 2: the arguments
  const int32_t first = made.words[patches], last = made.words[patches + 2 * (made.words[format::kPatchCount] - 1)];
  CHECK_THAT(word_refusal(net, patches + 1, 11), Contains("expression 11 found, the buffer has 11"));
  CHECK_THAT(word_refusal(net, patches + 2, first), Contains("found after that of word " + std::to_string(first)));
  CHECK_THAT(word_refusal(net, patches, 0), Contains("patch of word 0 found after that of word 0, ascending needed"));
  CHECK_THAT(word_refusal(net, patches, 3), Contains("is 0, at least 1 where no expression gives it needed"));
  CHECK_THAT(word_refusal(net, patches + 2 * (made.words[format::kPatchCount] - 1), last + 100000),
             Contains("patch of word " + std::to_string(last + 100000) + " found, less than"));
  CHECK_THAT(add_refusal([](Description& add) {
               add.models[0].operands[2].type = 0;  // FLOAT32
               add.expressions = {{ExpressionKind::kNumber, 0, 0}};
               add.models[0].values[1].flexible = {{0, 0}};
             }),
             Contains("which is neither a dimension nor an immediate INT32 or TENSOR_INT32"));
  CHECK_THAT(add_refusal([](Description& add) {
               add.expressions = {{ExpressionKind::kNumber, 0, 0}};
               add.models[0].values[1].flexible = {{1, 0}};  // an operation's argument
             }),
             Contains("patch of word") && Contains("which is neither a dimension nor"));
}

TEST_CASE("refused: texts") {
  const Description net = full_net();
  const MadeBuffer made = make_buffer(net);
  const auto text_bytes = static_cast<size_t>(made.words[format::kTextBytes]);
  const size_t text = made.words.size() - (text_bytes + 3) / 4;
  const size_t table = text - (13 + 3 + 3) - 2 * (3 + 1 + 1);
  REQUIRE(text_bytes % 4 != 0);
  CHECK_THAT(word_refusal(net, table, static_cast<int32_t>(text_bytes)),
             Contains("at word " + std::to_string(table) + ": text offset"));
  CHECK_THAT(word_refusal(net, text - 1, -1), Contains("text offset 4294967295 found, less than"));
  CHECK_THAT(word_refusal(net, text, -1), Contains("the text does not start with the empty string"));
  CHECK_THAT(word_refusal(net, made.words.size() - 1, 0x41414141), Contains("the text does not end with 0"));
  const int32_t tail = made.words.back();
  CHECK_THAT(word_refusal(net, made.words.size() - 1, tail | 0x41000000), Contains("the text does not end with 0"));
}

TEST_CASE("refused: shapes of arguments") {
  const auto buffer = parse_good(make_buffer(full_net()));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2, 2}})), Contains("1 argument shapes given, the model has 2"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2, 2}, {1}, {1}})), Contains("3 argument shapes given"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2}, {1}})),
             Contains("argument 0 has rank 3, the model needs rank 4"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 4, 2, 2}, {1}})),
             Contains("axis 1 of argument 0 has size 4, the model needs 3; resize"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 0, 2}, {1}})),
             Contains("axis 2 of argument 0 has size 0, 1 to 2147"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2147483648, 2}, {1}})), Contains("has size 2147483648, 1 to"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2, -1}, {1}})), Contains("has size -1"));
  nnapi_shim_error error{};
  ModelView view;
  CHECK(buffer->bind(nullptr, 2, &view, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  const nnapi_shim_shape empty[2] = {{4, nullptr}, {1, nullptr}};
  CHECK(buffer->bind(empty, 2, &view, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(buffer->bind(empty, 2, &view, nullptr) == NNAPI_SHIM_BAD_ARGUMENT);
}

TEST_CASE("refused: sizes that the arguments make impossible") {
  const auto with = [](std::vector<Expression> tail) {
    Description net = full_net();
    net.expressions.resize(10);
    for (const Expression& expression : tail) net.expressions.insert(net.expressions.begin() + 9, expression);
    net.expressions.resize(10);
    net.expressions.push_back(tail.back());
    return parse_good(make_buffer(net));
  };
  const Shapes small({{1, 3, 2, 2}, {1}});
  // 9: 4 * height * width; 6: -2; 7: 2.
  CHECK_THAT(
      bind_refusal(*with({{ExpressionKind::kProduct, 5, 6}}), small),
      Contains("dimension 1 of operand 8 rows of model 0 becomes -32 for arguments of sizes [1, 3, 2, 2], [1], at "
               "least 1 needed"));
  CHECK_THAT(bind_refusal(*with({{ExpressionKind::kFloorDiv, 0, 7}}), small), Contains("becomes 0 for arguments"));
  CHECK_THAT(bind_refusal(*with({{ExpressionKind::kFloorDiv, 0, 6}}), small),
             Contains("can't be computed for arguments of sizes [1, 3, 2, 2], [1]: its expression") &&
                 Contains("divides by 0 or less"));
  const auto buffer = parse_good(make_buffer(full_net()));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2147483647, 1}, {1}})), Contains("becomes 4294967294 for arguments"));
  CHECK_THAT(bind_refusal(*buffer, Shapes({{1, 3, 2147483647, 2147483647}, {1}})),
             Contains("or exceeds 64 bits; use other sizes"));
  CHECK_THAT(
      bind_refusal(*buffer, Shapes({{2147483647, 3, 10, 1}, {1}})),
      Contains("operand 0 image of model 0 has 4 GiB or more for arguments of sizes [2147483647, 3, 10, 1], [1]"));
}

TEST_CASE("refused: a constant whose flexible size does not fit its bytes") {
  Description net = add_net();
  net.arguments = {{2, 0}};
  net.expressions = {{ExpressionKind::kSize, 0, 1}};
  for (const size_t operand : {0, 1, 3}) net.models[0].operands[operand].dims[1] = Size::of_expression(0);
  const auto buffer = parse_good(make_buffer(net));
  bind_good(*buffer, Shapes({{2, 3}}));
  CHECK_THAT(
      bind_refusal(*buffer, Shapes({{2, 4}})),
      Contains("the value of operand 1 of model 0 has 24 bytes, and the operand 32 for arguments of sizes [2, 4]"));
}
