// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/interpreter.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lib/program/containers.h"
#include "lib/program/values.h"

namespace nnapi_shim::program {
namespace {

using nnapi_convert::program_format::kConstantBit;
using nnapi_convert::program_format::Opcode;

class Run {
 public:
  Run(const Program& program, const Method& method, Context& context, const Value& state, SegmentRunner& segments)
      : program_(program),
        context_(context),
        state_(state),
        segments_(segments),
        words_(program.words()),
        registers_(context.pool, std::max(method.registers, 1u)),
        results_(context.pool, method.most_outputs + 1),
        inputs_(
            static_cast<const Value**>(context.pool.take((size_t{method.most_inputs} + 1) * sizeof(const Value*)))) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { context_.pool.give_back(static_cast<void*>(inputs_)); }

  bool run(const Method& method, Value* arguments, Value* result) {
    if (!registers_.is_there() || !results_.is_there() || inputs_ == nullptr) return context_.fail_memory();
    for (uint32_t i = 0; i < method.arguments.size(); ++i) registers_[i] = std::move(arguments[i]);
    if (!run_block(method.code_begin, method.code_words)) return false;
    *result = operand(method.result);
    return true;
  }

 private:
  const Value& operand(uint32_t word) {
    return (word & kConstantBit) != 0 ? program_.constant(word & ~kConstantBit) : registers_[word];
  }

  // Adds operator and place to the reason of a failure.
  bool fail_at(uint32_t instruction, const char* what) {
    char reason[sizeof context_.failure];
    context_.fail("it failed without a reason");
    std::memcpy(reason, context_.failure, sizeof reason);
    const uint32_t place = words_[instruction] >> 8;
    std::snprintf(context_.failure, sizeof context_.failure, "%.80s%s%s%.120s%s%.280s", what,
                  what[0] != '\0' ? ": " : "", place > 0 ? "at " : "", place > 0 ? program_.string(place - 1) : "",
                  place > 0 ? ": " : "", reason);
    return false;
  }

  bool fail_step(uint32_t instruction) {
    context_.fail("the program takes more steps than it may");
    return fail_at(instruction, "");
  }

  bool run_block(uint32_t at, uint32_t words) {
    for (const uint32_t end = at + words; at < end;) {
      if (context_.steps_left == 0) return fail_step(at);
      --context_.steps_left;
      uint32_t next = 0;
      if (!run_instruction(at, &next)) return false;
      at = next;
    }
    return true;
  }

  void list_inputs(uint32_t at, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) inputs_[i] = &operand(words_[at + i]);
  }

  // Moves the results of an instruction into its registers. Drops a value that no register takes.
  void keep_results(uint32_t at, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) registers_[words_[at + i]] = std::move(results_[i]);
  }

  bool run_instruction(uint32_t at, uint32_t* next) {
    const uint32_t* const word = words_ + at;
    switch (static_cast<Opcode>(word[0] & 0xff)) {
      case Opcode::kOperator:
        return run_operator(at, next);
      case Opcode::kIf:
        return run_if(at, next);
      case Opcode::kLoop:
        return run_loop(at, next);
      case Opcode::kSegment: {
        list_inputs(at + 4, word[2]);
        const bool is_good = segments_.run_segment(word[1], context_, inputs_, results_.data());
        keep_results(at + 4 + word[2], word[3]);
        *next = at + 4 + word[2] + word[3];
        return is_good || fail_at(at, "NNAPI segment");
      }
      case Opcode::kRawSegment: {
        const uint32_t count = word[2] + word[3];
        list_inputs(at + 5, count);
        const bool is_good = segments_.run_raw_segment(word[1], context_, inputs_, word[2], word[3], results_.data());
        keep_results(at + 5 + count, word[4]);
        *next = at + 5 + count + word[4];
        return is_good || fail_at(at, "NNAPI segment");
      }
      case Opcode::kList:
        return make(at, Tag::kList, word[1], next);
      case Opcode::kTuple:
        return make(at, Tag::kTuple, word[1], next);
      case Opcode::kDict:
        return make_dict(at, next);
      case Opcode::kObject: {
        Sequence* object = make_sequence(context_.pool, Tag::kObject, word[1]);
        if (object == nullptr) return context_.fail_memory() || fail_at(at, "");
        registers_[word[2]] = Value(object);
        *next = at + 3;
        return true;
      }
      case Opcode::kGetField:
      case Opcode::kSetField:
        *next = at + 4;
        return run_field(at);
      case Opcode::kGetState:
        registers_[word[1]] = state_;
        *next = at + 2;
        return true;
      case Opcode::kUnpack:
        return unpack(at, next);
      case Opcode::kRaise:
        if (operand(word[1]).tag() == Tag::kString) {
          context_.fail("%s", operand(word[1]).string().text());
        } else {
          context_.fail("the model raises an error");
        }
        return fail_at(at, "");
      case Opcode::kDrop:
        for (uint32_t i = 0; i < word[1]; ++i) registers_[word[2 + i]] = Value();
        *next = at + 2 + word[1];
        return true;
    }
    return context_.fail("an unknown opcode");
  }

  bool run_operator(uint32_t at, uint32_t* next) {
    const uint32_t* const word = words_ + at;
    list_inputs(at + 4, word[2]);
    Call call{context_, inputs_, word[2], results_.data(), word[3]};
    const bool is_good = program_.operator_at(word[1]).run(call);
    keep_results(at + 4 + word[2], word[3]);
    *next = at + 4 + word[2] + word[3];
    return is_good || fail_at(at, program_.operator_name(word[1]));
  }

  bool run_if(uint32_t at, uint32_t* next) {
    const uint32_t* const word = words_ + at;
    const Value& condition = operand(word[1]);
    if (condition.tag() != Tag::kBool) {
      context_.fail("a condition is %s, a bool is needed", kind_name(condition));
      return fail_at(at, "");
    }
    const bool is_true = condition.as_bool();
    const uint32_t count = word[2], lengths[2] = {word[3], word[4]};
    const uint32_t registers = at + 5, code = registers + 3 * count;
    if (!run_block(is_true ? code : code + lengths[0], lengths[is_true ? 0 : 1])) return false;
    const uint32_t given = registers + (is_true ? 1 : 2) * count;
    for (uint32_t i = 0; i < count; ++i) results_[i] = operand(words_[given + i]);
    keep_results(registers, count);
    *next = code + lengths[0] + lengths[1];
    return true;
  }

  bool run_loop(uint32_t at, uint32_t* next) {
    const uint32_t* const word = words_ + at;
    const Value &most = operand(word[1]), &first = operand(word[2]);
    if (most.tag() != Tag::kInt || first.tag() != Tag::kBool) {
      context_.fail("a loop's rounds are %s and its condition %s, an int and a bool are needed", kind_name(most),
                    kind_name(first));
      return fail_at(at, "");
    }
    const int64_t rounds = most.as_int();
    bool goes_on = first.as_bool();
    const uint32_t count = word[3], length = word[4], starts = at + 5;
    const uint32_t kept = starts + count, body = kept + count, given = body + 1 + count, code = given + 1 + count;
    for (uint32_t i = 0; i < count; ++i) results_[i] = operand(words_[starts + i]);
    keep_results(body + 1, count);
    for (int64_t round = 0; round < rounds && goes_on; ++round) {
      if (context_.steps_left == 0) return fail_step(at);
      --context_.steps_left;
      registers_[words_[body]] = Value(round);
      if (!run_block(code, length)) return false;
      const Value& condition = operand(words_[given]);
      if (condition.tag() != Tag::kBool) {
        context_.fail("a loop's condition is %s, a bool is needed", kind_name(condition));
        return fail_at(at, "");
      }
      goes_on = condition.as_bool();
      for (uint32_t i = 0; i < count; ++i) results_[i] = operand(words_[given + 1 + i]);
      keep_results(body + 1, count);
    }
    for (uint32_t i = 0; i < count; ++i) results_[i] = std::move(registers_[words_[body + 1 + i]]);
    keep_results(kept, count);
    *next = code + length;
    return true;
  }

  bool make(uint32_t at, Tag tag, uint32_t count, uint32_t* next) {
    Sequence* sequence = make_sequence(context_.pool, tag, count);
    if (sequence == nullptr) return context_.fail_memory() || fail_at(at, "");
    for (uint32_t i = 0; i < count; ++i) sequence->values[i] = operand(words_[at + 2 + i]);
    registers_[words_[at + 2 + count]] = Value(sequence);
    *next = at + 3 + count;
    return true;
  }

  bool make_dict(uint32_t at, uint32_t* next) {
    const uint32_t count = words_[at + 1], pairs = at + 2;
    Value dict(make_sequence(context_.pool, Tag::kDict, 0));
    bool is_good = !dict.is_none() || context_.fail_memory();
    for (uint32_t i = 0; i < count && is_good; ++i) {
      is_good = set_item(context_, dict.sequence(), operand(words_[pairs + 2 * i]), operand(words_[pairs + 2 * i + 1]));
    }
    if (!is_good) return fail_at(at, "");
    registers_[words_[pairs + 2 * count]] = std::move(dict);
    *next = pairs + 2 * count + 1;
    return true;
  }

  bool run_field(uint32_t at) {
    const uint32_t* const word = words_ + at;
    const Value& object = operand(word[1]);
    if (object.tag() != Tag::kObject || word[2] >= object.sequence().count) {
      context_.fail("field %u of %s is asked for, an object that has it is needed", word[2], kind_name(object));
      return fail_at(at, "");
    }
    Value& field = object.sequence().values[word[2]];
    if (static_cast<Opcode>(word[0] & 0xff) == Opcode::kGetField) {
      registers_[word[3]] = field;
      return true;
    }
    if (object.object()->pool == nullptr) {
      context_.fail("an object that is a constant can't be changed");
      return fail_at(at, "");
    }
    field = operand(word[3]);
    return true;
  }

  bool unpack(uint32_t at, uint32_t* next) {
    const uint32_t* const word = words_ + at;
    const Value& value = operand(word[1]);
    const bool is_sequence = value.tag() == Tag::kList || value.tag() == Tag::kTuple;
    if (!is_sequence || value.sequence().count != word[2]) {
      context_.fail("%s of %u values is unpacked, a list or tuple of %u is needed", kind_name(value),
                    is_sequence ? value.sequence().count : 1, word[2]);
      return fail_at(at, "");
    }
    const Value keep = value;
    for (uint32_t i = 0; i < word[2]; ++i) registers_[word[3 + i]] = keep.sequence().values[i];
    *next = at + 3 + word[2];
    return true;
  }

  const Program& program_;
  Context& context_;
  const Value& state_;
  SegmentRunner& segments_;
  const uint32_t* const words_;
  Values registers_, results_;
  const Value** const inputs_;
};

}  // namespace

bool run_method(const Program& program, const Method& method, Context& context, const Value& state,
                SegmentRunner& segments, Value* arguments, Value* result) {
  context.failure[0] = '\0';
  return Run(program, method, context, state, segments).run(method, arguments, result);
}

}  // namespace nnapi_shim::program
