// SPDX-License-Identifier: BSD-3-Clause
// The closed list of operators that programs may call. Each is a small function that computes what PyTorch's operator
// of the same schema computes on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/program/tensor.h"
#include "lib/program/value.h"

namespace nnapi_shim::program {

// The memory and state of calls. Not for several threads at once.
struct Context {
  Pool pool;
  // The reason of the first failure, for people: the value found and the value needed. Empty: no failure.
  char failure[512] = "";
  // Instructions and rounds of loops that the call may still take: tests and fuzzers set less.
  uint64_t steps_left = UINT64_MAX;
  // The state of the random numbers. The same initial state gives the same numbers again.
  uint64_t random_state = 0;

  // Keep the reason and return false, so that operators can return it.
  [[gnu::format(printf, 2, 3)]] bool fail(const char* format, ...);
  bool fail_memory();
};

// The arguments of one operator, in its schema's order. The number of inputs and outputs is checked before; kinds of
// values are not.
struct Call {
  Context& context;
  const Value* const* inputs;
  uint32_t input_count;
  Value* outputs;  // None at first
  uint32_t output_count;

  const Value& input(uint32_t number) const { return *inputs[number]; }
};

// A row in the tables that the files of operators contain.
struct OperatorRow {
  // The schema's name with its overload: "aten::add.Tensor". Overloads that one function computes, as it looks at the
  // kinds of its arguments, share a row: "aten::add.,int,float" is aten::add, aten::add.int and aten::add.float.
  const char* name;
  uint8_t inputs;  // how many arguments the schema has; kAny: any number
  uint8_t outputs;
  bool (*run)(Call& call);  // false: it has called Context::fail()
};
constexpr uint8_t kAny = 255;

// The rows of a file, without pointers: each would cost a relocation in the library and at its start. Named in
// tables.inc and made by operator_table.h:
//   const OperatorTable scalar_operators = operator_table<kRows>();
struct OperatorTable {
  const char* rows;  // for each row: its inputs, outputs, name's length, and name without "aten::"
  uint32_t count;
  bool (*run)(uint32_t row, Call& call);
};
#define PROGRAM_OPERATOR_TABLE(name) extern const OperatorTable name;
#include "lib/program/tables.inc"
#undef PROGRAM_OPERATOR_TABLE

// A row of a table.
struct Operator {
  const OperatorTable* table = nullptr;  // null: none
  uint32_t row = 0;
  uint8_t inputs = 0, outputs = 0;

  bool run(Call& call) const { return table->run(row, call); }
};

// Returns no table for an operator that is not in the list. For use when programs are opened: it searches all rows.
Operator find_operator(const char* name, size_t length);
// True for a build that has the operators of certain files only.
bool is_for_files();

const char* kind_name(const Value& value);  // "a list", for messages

// Readers of arguments: each fails with the argument's number if the value is of another kind.
bool tensor_at(Call& call, uint32_t number, Tensor** tensor);
bool int_at(Call& call, uint32_t number, int64_t* value);
bool bool_at(Call& call, uint32_t number, bool* value);
bool number_at(Call& call, uint32_t number, double* value);  // reads an int, a float or a bool
// Reads a list or tuple of at most `most` ints, or one int, and sets `count`.
bool ints_at(Call& call, uint32_t number, uint32_t most, int64_t* values, uint32_t* count);
// Reads a dtype given as an int, or `otherwise` for None.
bool dtype_at(Call& call, uint32_t number, ScalarType otherwise, ScalarType* dtype);

}  // namespace nnapi_shim::program
