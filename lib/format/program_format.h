// SPDX-License-Identifier: BSD-3-Clause
// The binary form of a program: the part of a model that NNAPI doesn't run, for runtimes without PyTorch
// (schemas/nnapi_program.md). A program is TorchScript's own graph, inlined, as words: the operators of PyTorch by
// their schemas' names, on registers, with branches and loops.
//
// The record is a list of 32-bit little-endian words, then data. Words come first: the header, then the sections in the
// order of this file. "string", "constant", "operator" and "method" are numbers of entries of their sections. A "wide"
// is two words, the lower one first.
#pragma once

#include <cstdint>

namespace nnapi_convert::program_format {

// The record's name in the archive's root folder.
constexpr const char* kRecord = "extra/nnapi_shim.program";

constexpr uint32_t kMagic = 0x52504e4e;  // "NNPR"
constexpr uint32_t kVersion = 1;

// Words of the header.
enum Header : uint32_t {
  kMagicWord = 0,
  kVersionWord = 1,
  kChecksum = 2,   // CRC-32 of all words behind this one
  kWordCount = 3,  // of the record's words, the header's included
  kDataBegin = 4,  // a wide: the byte of the record at which the data begins, a multiple of kDataAlignment
  kDataBytes = 6,  // a wide
  kHeaderWords = 8,
};
constexpr uint32_t kDataAlignment = 64;  // of the data and of each tensor in it

// Section "strings": their count; for each its length in bytes; then the bytes of all, one behind the other, filled up
// with zeros to a word. They are UTF-8 and hold no zero.
//
// Section "operators": their count; for each the string with its name, as in PyTorch's schemas: "aten::add.Tensor".
//
// Section "constants": their count; for each a kind, and what the kind says. A constant refers to earlier ones only.
enum class ConstantKind : uint32_t {
  kNone = 0,
  kBool = 1,     // 0 or 1
  kInt = 2,      // a wide: int64
  kFloat = 3,    // a wide: the bits of a double
  kString = 4,   // the string
  kTensor = 5,   // dtype, rank (at most kMostAxes), a wide for each size, a wide: its byte in the data; row-major
  kList = 6,     // the count, and the constants
  kTuple = 7,    // the count, and the constants
  kDict = 8,     // the count of pairs; key and value of each
  kObject = 9,   // the count of fields, and the constants; an object without a value in a field has kNone there
  kDevice = 10,  // the CPU
};
constexpr uint32_t kMostAxes = 8;

// The numbers of dtypes are those of PyTorch's ScalarType.
enum class ScalarType : uint32_t {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kBool = 11,
};

// Section "state": the constant, an object, whose fields are the attributes that methods read and change. They keep
// their values from call to call.
//
// Section "segments": their count; for each the number of its inputs and outputs, then the number of the method that
// computes the segment if NNAPI fails, plus 1, or 0 without one. They are the segments of the file's index, in its
// order.
//
// Section "methods": their count; for each:
//   the string with its name; the number of registers; the count of arguments, and for each: the string with its name,
//   the string with its type in TorchScript's annotations, and its default constant plus 1, or 0; the string with the
//   result's type; the operand that is the result; the number of words of its code, and the code.
// A method that stands for a segment is not called by name, and calls no segments. It has the segment's arguments, and
// gives a tuple of the segment's outputs, in the form in which the program calls it (kSegment, kRawSegment).
// Arguments are in the first registers. Types: Tensor, int, float, bool, str, NoneType, Optional[T], List[T],
// Tuple[T, ...], Dict[K, V], NamedTuple[name: T, ...].
//
// An operand is a register, or a constant with kConstantBit set.
constexpr uint32_t kConstantBit = 0x80000000;

// An instruction is its opcode in the lower 8 bits of a word, with the number of the string that names its place in the
// source, plus 1, in the upper 24 (0: none), then its words. A register is written before it is read, on each way.
enum class Opcode : uint32_t {
  // operator, count of inputs, count of outputs; an operand for each input, a register for each output.
  kOperator = 0,
  // An operand, the condition (a bool); count of outputs; words of the block that runs if it is true; words of the one
  // if it is false; a register for each output; for each output the operand that the true block gives, then for each
  // the operand that the false one gives; the code of both. Blocks see the registers that are written before.
  kIf = 1,
  // An operand, the most rounds (an int); an operand, whether there is a first round (a bool); count of carried values;
  // words of the body; an operand for each carried value's start; a register for each result; the body's registers: the
  // round's number (an int), then one for each carried value; an operand of the body: whether there is another round;
  // for each carried value the operand that the body gives; the code of the body.
  kLoop = 2,
  // segment, count of inputs, count of outputs; an operand (a tensor) for each input, a register for each output. What
  // NNAPI needs in NHWC is given and got as NCHW tensors; of outputs the strides are those of channels_last.
  kSegment = 3,
  kList = 4,       // count, an operand for each element, a register
  kTuple = 5,      // count, an operand for each element, a register
  kDict = 6,       // count of pairs, operands for key and value of each, a register
  kObject = 7,     // count of fields, a register: an object whose fields are None
  kGetField = 8,   // an operand (an object), the field's number, a register
  kSetField = 9,   // an operand (an object), the field's number, an operand
  kGetState = 10,  // a register: the object of the state
  kUnpack = 11,    // an operand (a list or tuple), count, a register for each element; an error for another length
  kRaise = 12,     // an operand: the message (a string)
  kDrop = 13,      // count, registers that are not read any more
  // segment, counts of arguments, inputs and outputs; operands, registers. The inputs and outputs are in NNAPI's own
  // form, and row-major; of the arguments only the sizes count.
  kRawSegment = 14,
};

constexpr uint32_t kMostRegisters = 1u << 20;
constexpr uint32_t kMostDepth = 64;  // of blocks within blocks, and of values within values

}  // namespace nnapi_convert::program_format
