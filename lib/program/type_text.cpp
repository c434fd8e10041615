// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/type_text.h"

#include <cstring>

#include "lib/format/program_format.h"

namespace nnapi_shim::program {
namespace {

using nnapi_convert::program_format::kMostDepth;
using Kind = Type::Kind;

class Parser {
 public:
  explicit Parser(const char* text) : at_(text) {}

  bool is_at_end() const { return *at_ == '\0'; }

  bool parse(Type* type, uint32_t depth) {
    if (depth > kMostDepth) return false;
    const std::string word = take_word();
    for (const Name& name : kNames) {
      if (word != name.text) continue;
      type->kind = name.kind;
      if (name.least == 0) return true;
      return parse_parts(type, depth, word == "NamedTuple") && type->parts.size() >= name.least &&
             type->parts.size() <= name.most;
    }
    return false;
  }

 private:
  struct Name {
    const char* text;
    Kind kind;
    uint32_t least, most;  // parts
  };
  static constexpr uint32_t kMany = 4096;
  static constexpr Name kNames[] = {
      {"Tensor", Kind::kTensor, 0, 0},   {"int", Kind::kInt, 0, 0},
      {"float", Kind::kFloat, 0, 0},     {"bool", Kind::kBool, 0, 0},
      {"number", Kind::kNumber, 0, 0},   {"str", Kind::kString, 0, 0},
      {"Device", Kind::kDevice, 0, 0},   {"NoneType", Kind::kNone, 0, 0},
      {"None", Kind::kNone, 0, 0},       {"Optional", Kind::kOptional, 1, 1},
      {"List", Kind::kList, 1, 1},       {"Dict", Kind::kDict, 2, 2},
      {"Tuple", Kind::kTuple, 1, kMany}, {"NamedTuple", Kind::kTuple, 1, kMany},
  };

  void skip_spaces() {
    while (*at_ == ' ') ++at_;
  }

  // Takes the letters up to the next character with a meaning in types.
  std::string take_word() {
    skip_spaces();
    const size_t length = std::strcspn(at_, " [],:");
    std::string word(at_, length);
    at_ += length;
    skip_spaces();
    return word;
  }

  bool take(char sign) {
    skip_spaces();
    if (*at_ != sign) return false;
    ++at_;
    skip_spaces();
    return true;
  }

  // Parses "[A, B]", or "[a: A, b: B]" with names.
  bool parse_parts(Type* type, uint32_t depth, bool has_names) {
    if (!take('[')) return false;
    do {
      if (type->parts.size() == kMany) return false;
      if (has_names) {
        type->names.push_back(take_word());
        if (type->names.back().empty() || !take(':')) return false;
      }
      type->parts.emplace_back();
      if (!parse(&type->parts.back(), depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  const char* at_;
};

}  // namespace

bool parse_type(const char* text, Type* type) {
  *type = Type();
  if (std::strcmp(text, "Tuple[()]") == 0) {
    type->kind = Kind::kTuple;
    return true;
  }
  Parser parser(text);
  return parser.parse(type, 0) && parser.is_at_end();
}

}  // namespace nnapi_shim::program
