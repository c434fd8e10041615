// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/program_text.h"

#include <fmt/format.h>

#include <vector>

#include "lib/base/error.h"
#include "lib/format/program_format.h"

namespace nnapi_convert {
namespace {

using nnapi_shim::program::Method;
using nnapi_shim::program::Program;
using nnapi_shim::program::Tag;
using nnapi_shim::program::Type;
using nnapi_shim::program::Value;
using program_format::Opcode;

std::string type_text(const Type& type) {
  using Kind = Type::Kind;
  std::vector<std::string> parts;
  for (size_t i = 0; i < type.parts.size(); ++i) {
    parts.push_back((type.names.empty() ? "" : type.names[i] + ": ") + type_text(type.parts[i]));
  }
  const std::string inside = fmt::format("[{}]", fmt::join(parts, ", "));
  switch (type.kind) {
    case Kind::kTensor:
      return "Tensor";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kBool:
      return "bool";
    case Kind::kNumber:
      return "number";
    case Kind::kString:
      return "str";
    case Kind::kDevice:
      return "Device";
    case Kind::kNone:
      return "None";
    case Kind::kOptional:
      return "Optional" + inside;
    case Kind::kList:
      return "List" + inside;
    case Kind::kTuple:
      return (type.names.empty() ? "Tuple" : "NamedTuple") + inside;
    case Kind::kDict:
      return "Dict" + inside;
  }
  return "?";
}

std::string quoted(const std::string& text) {
  constexpr size_t kMostShown = 60;
  std::string shown = text.substr(0, kMostShown);
  for (char& sign : shown) sign = static_cast<unsigned char>(sign) < ' ' ? ' ' : sign;
  return fmt::format("\"{}{}\"", shown, text.size() > kMostShown ? "..." : "");
}

// Returns a constant as text. It may hold others many times over: only the outer `levels` are shown.
std::string value_text(const Value& value, int levels = 3) {
  switch (value.tag()) {
    case Tag::kNone:
      return "None";
    case Tag::kBool:
      return value.as_bool() ? "True" : "False";
    case Tag::kInt:
      return fmt::format("{}", value.as_int());
    case Tag::kFloat:
      return fmt::format("{:#.9g}", value.as_float());
    case Tag::kDevice:
      return "cpu";
    case Tag::kString:
      return quoted({value.string().text(), value.string().length});
    case Tag::kTensor: {
      const nnapi_shim::program::Tensor& tensor = value.tensor();
      return fmt::format("{}[{}]", nnapi_shim::program::dtype_name(tensor.dtype),
                         fmt::join(tensor.sizes, tensor.sizes + tensor.rank, ", "));
    }
    default: {
      constexpr uint32_t kMostShown = 8;
      if (levels == 0) return "...";
      std::vector<std::string> parts;
      const nnapi_shim::program::Sequence& sequence = value.sequence();
      for (uint32_t i = 0; i < sequence.count && i < kMostShown; ++i)
        parts.push_back(value_text(sequence.values[i], levels - 1));
      if (sequence.count > kMostShown) parts.emplace_back("...");
      return fmt::format(value.tag() == Tag::kTuple  ? "({})"
                         : value.tag() == Tag::kDict ? "{{{}}}"
                                                     : "[{}]",
                         fmt::join(parts, ", "));
    }
  }
}

class ProgramText {
 public:
  explicit ProgramText(const Program& program) : program_(program), words_(program.words()) {}

  std::string run() {
    const std::vector<Method>& methods = program_.methods();
    for (uint32_t i = 0; i < methods.size(); ++i) add(methods[i], i);
    return std::move(text_);
  }

 private:
  void add(const Method& method, uint32_t number) {
    std::vector<std::string> arguments;
    for (size_t i = 0; i < method.arguments.size(); ++i) {
      const auto& argument = method.arguments[i];
      arguments.push_back(fmt::format("r{} {}: {}{}", i, argument.name, type_text(argument.type),
                                      argument.has_default ? " = " + value_text(argument.default_value) : ""));
    }
    const bool is_named = number < program_.named_methods();
    text_ += fmt::format("{}{}({}) -> {}\n", is_named ? "" : "where NNAPI fails, ", method.name,
                         fmt::join(arguments, ", "), type_text(method.result_type));
    block(method.code_begin, method.code_words, 1);
    text_ += "  return " + operand(method.result) + "\n";
  }

  std::string operand(uint32_t word) const {
    const uint32_t bit = program_format::kConstantBit;
    return (word & bit) != 0 ? value_text(program_.constant(word & ~bit)) : fmt::format("r{}", word);
  }
  std::string operands(uint32_t at, uint32_t count) const {
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < count; ++i) texts.push_back(operand(words_[at + i]));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string assigned(uint32_t at, uint32_t count) const { return count == 0 ? "" : operands(at, count) + " = "; }

  void line(size_t depth, const std::string& text, uint32_t first_word) {
    const uint32_t place = first_word >> 8;
    text_ += std::string(2 * depth, ' ') + text;
    if (place > 0) text_ += fmt::format("  # {}", program_.string(place - 1));
    text_ += "\n";
  }

  void block(uint32_t at, uint32_t words, size_t depth) {
    for (const uint32_t end = at + words; at < end;) at = instruction(at, depth);
  }

  // Shows an instruction, and returns where the next one begins. The program was checked when it was read.
  uint32_t instruction(uint32_t at, size_t depth) {
    const uint32_t* word = words_ + at;
    const auto show = [&](const std::string& text) { line(depth, text, word[0]); };
    switch (static_cast<Opcode>(word[0] & 0xff)) {
      case Opcode::kOperator:
        show(fmt::format("{}{}({})", assigned(at + 4 + word[2], word[3]), program_.operator_name(word[1]),
                         operands(at + 4, word[2])));
        return at + 4 + word[2] + word[3];
      case Opcode::kSegment:
        show(fmt::format("{}segment {}({})", assigned(at + 4 + word[2], word[3]), word[1], operands(at + 4, word[2])));
        return at + 4 + word[2] + word[3];
      case Opcode::kRawSegment:
        show(fmt::format("{}segment {}({}; in NNAPI's form: {})", assigned(at + 5 + word[2] + word[3], word[4]),
                         word[1], operands(at + 5, word[2]), operands(at + 5 + word[2], word[3])));
        return at + 5 + word[2] + word[3] + word[4];
      case Opcode::kIf:
        return branch(at, depth);
      case Opcode::kLoop:
        return loop(at, depth);
      case Opcode::kList:
        show(fmt::format("{} = [{}]", operand(word[2 + word[1]]), operands(at + 2, word[1])));
        return at + 3 + word[1];
      case Opcode::kTuple:
        show(fmt::format("{} = ({})", operand(word[2 + word[1]]), operands(at + 2, word[1])));
        return at + 3 + word[1];
      case Opcode::kDict: {
        std::vector<std::string> pairs;
        for (uint32_t i = 0; i < word[1]; ++i)
          pairs.push_back(operand(word[2 + 2 * i]) + ": " + operand(word[3 + 2 * i]));
        show(fmt::format("{} = {{{}}}", operand(word[2 + 2 * word[1]]), fmt::join(pairs, ", ")));
        return at + 3 + 2 * word[1];
      }
      case Opcode::kObject:
        show(fmt::format("{} = object of {} fields", operand(word[2]), word[1]));
        return at + 3;
      case Opcode::kGetField:
        show(fmt::format("{} = {}.field {}", operand(word[3]), operand(word[1]), word[2]));
        return at + 4;
      case Opcode::kSetField:
        show(fmt::format("{}.field {} = {}", operand(word[1]), word[2], operand(word[3])));
        return at + 4;
      case Opcode::kGetState:
        show(fmt::format("{} = state", operand(word[1])));
        return at + 2;
      case Opcode::kUnpack:
        show(fmt::format("{} = unpack {}", operands(at + 3, word[2]), operand(word[1])));
        return at + 3 + word[2];
      case Opcode::kRaise:
        show("raise " + operand(word[1]));
        return at + 2;
      case Opcode::kDrop:  // only frees memory
        return at + 2 + word[1];
    }
    return at + 1;
  }

  uint32_t branch(uint32_t at, size_t depth) {
    const uint32_t* word = words_ + at;
    const uint32_t count = word[2], results = at + 5, code = results + 3 * count;
    line(depth, fmt::format("if {}:", operand(word[1])), word[0]);
    block(code, word[3], depth + 1);
    if (count > 0) line(depth + 1, operands(results, count) + " = " + operands(results + count, count), 0);
    line(depth, "else:", 0);
    block(code + word[3], word[4], depth + 1);
    if (count > 0) line(depth + 1, operands(results, count) + " = " + operands(results + 2 * count, count), 0);
    return code + word[3] + word[4];
  }

  uint32_t loop(uint32_t at, size_t depth) {
    const uint32_t* word = words_ + at;
    const uint32_t count = word[3], starts = at + 5, results = starts + count, body = results + count;
    const uint32_t given = body + 1 + count, code = given + 1 + count;
    if (count > 0) line(depth, operands(body + 1, count) + " = " + operands(starts, count), 0);
    line(depth, fmt::format("for {} below {}, while {}:", operand(words_[body]), operand(word[1]), operand(word[2])),
         word[0]);
    block(code, word[4], depth + 1);
    if (count > 0) line(depth + 1, operands(body + 1, count) + " = " + operands(given + 1, count), 0);
    line(depth + 1, "go on while " + operand(words_[given]), 0);
    if (count > 0) line(depth, operands(results, count) + " = " + operands(body + 1, count), 0);
    return code + word[4];
  }

  const Program& program_;
  const uint32_t* words_;
  std::string text_;
};

}  // namespace

std::optional<FileProgram> read_program(const std::string& path) {
  FileProgram read;
  nnapi_shim_error error{};
  if (read.archive.open(path.c_str(), &error) != NNAPI_SHIM_OK) return std::nullopt;
  const nnapi_shim::ProgramRecord& record = read.archive.program();
  if (record.data == nullptr) return std::nullopt;
  read.program = Program::parse(record.data, record.bytes, error.message, sizeof error.message);
  if (!read.program) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, error.message));
  return read;
}

std::string to_text(const nnapi_shim::program::Program& program) {
  return ProgramText(program).run();
}

}  // namespace nnapi_convert
