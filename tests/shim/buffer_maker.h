// SPDX-License-Identifier: BSD-3-Clause
// Writes buffers of versions 2, 3, 4, 6 and 7 (schemas/nnapi_buffer.md) for tests, from a plain description. The writer
// shares no code with the converter's writer and checks nothing: tests also make wrong buffers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/format/buffer_format_v2.h"

namespace nnapi_shim::testing {

namespace format = nnapi_convert::buffer_format_v2;

// A size: a number, or the number of an expression.
struct Size {
  Size(int32_t fixed) : number(fixed) {}  // NOLINT: as it reads in a list
  static Size of_expression(uint32_t expression) {
    Size size(0);
    size.expression = static_cast<int32_t>(expression);
    return size;
  }

  int32_t number;
  int32_t expression = -1;
};

struct Operand {
  int32_t type = 3;  // TENSOR_FLOAT32
  std::vector<Size> dims;
  float scale = 0;
  int32_t zero_point = 0;
  int32_t channel_axis = -1;
  std::vector<float> channel_scales;
  std::string name;
};

struct Value {
  uint32_t operand = 0;
  format::ValueSource source = format::ValueSource::kImmediate;
  std::vector<uint8_t> bytes;                           // kImmediate and weights
  uint32_t model = 0;                                   // kModel
  std::vector<std::pair<uint32_t, uint32_t>> flexible;  // kImmediate: word of the value, expression
};

struct Operation {
  int32_t code = 0;
  std::vector<uint32_t> inputs, outputs;
  std::string name, source;
};

struct Input {
  uint32_t operand = 0;
  int32_t argument = -1;
  format::Layout layout = format::Layout::kSame;
};

struct Output {
  uint32_t operand = 0;
  format::Layout layout = format::Layout::kSame;
};

struct Model {
  std::vector<Operand> operands;
  std::vector<Value> values;
  std::vector<Operation> operations;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
};

struct Expression {
  format::ExpressionKind kind;
  int32_t a, b;
};

struct Condition {
  format::ConditionKind kind;
  int32_t left, right;  // expressions
  std::string text;     // two strings, each with its NUL
};

struct Description {
  int32_t version = 2;
  int32_t feature_level = 1;
  int32_t preference = 1;  // FAST_SINGLE_ANSWER
  bool relax_fp16 = false;
  std::vector<std::vector<int32_t>> arguments;  // sizes; 0: flexible
  std::vector<Expression> expressions;
  std::vector<Model> models;
  bool stripped = true;  // without names and source lines
  std::vector<std::vector<int32_t>> samples =
      {};                                  // the words of each, without their count; with any: version 4 or later
  std::vector<Condition> conditions = {};  // of version 7
};

struct MadeBuffer {
  std::vector<int32_t> words;
  std::vector<uint8_t> weights;
};

MadeBuffer make_buffer(const Description& description);

// Writes the checksum again after words have changed.
void seal(std::vector<int32_t>& words);

// Returns the bytes of numbers in the form of values.
std::vector<uint8_t> bytes_of(const std::vector<int32_t>& numbers);
std::vector<uint8_t> bytes_of(const std::vector<float>& numbers);

// The words of an input of a sample.
std::vector<int32_t> stored_input(const std::vector<uint8_t>& bytes);
std::vector<int32_t> uniform_input(uint32_t seed, float lowest, float highest);
std::vector<int32_t> uniform_input(uint32_t seed, int32_t lowest, int32_t highest);

// An output of a sample of floats: what is expected of all elements. Every element whose number is a multiple of `step`
// is kept.
std::vector<int32_t> float_output(const std::vector<float>& expected, float tolerance, uint32_t step = 1);

// Returns the words of lists, one after the other.
std::vector<int32_t> joined(const std::vector<std::vector<int32_t>>& lists);

// One ADD: x0 + weight, [2, 3] floats.
Description add_net();
// Every feature of the format: flexible sizes (NCHW argument [0, 3, 0, 0]), a per-channel CONV_2D with weights, NHWC,
// RESHAPE with a flexible target, an omitted operand, IF with two subgraphs, names and source lines.
Description full_net();
// The same as version 7: the picture is square, of 2 rows or more, and of at most 64 pixels.
Description conditional_net();
// The model that schemas/nnapi_buffer.md shows word by word: a CONV_2D of flexible batch size with a scale per channel.
Description page_net();

}  // namespace nnapi_shim::testing
