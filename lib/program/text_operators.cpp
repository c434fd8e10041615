// SPDX-License-Identifier: BSD-3-Clause
// Operators on texts, and operators that write values as TorchScript prints them.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "lib/format/program_format.h"
#include "lib/program/arguments.h"
#include "lib/program/containers.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {
namespace {

using nnapi_convert::program_format::kMostDepth;

constexpr size_t kMostText = 1 << 20;

// Builds a text in memory of the pool.
class TextBuilder {
 public:
  explicit TextBuilder(Call& call) : call_(call) {}
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;
  ~TextBuilder() { call_.context.pool.give_back(text_); }

  void add(const char* text, size_t length) {
    if (!is_good_) return;
    if (length > kMostText - length_) {
      is_good_ = call_.context.fail("a text is longer than %zu bytes", kMostText);
      return;
    }
    if (length_ + length > capacity_) {
      const size_t capacity = 2 * (length_ + length) + 64;
      auto* grown = static_cast<char*>(call_.context.pool.take(capacity));
      if (grown == nullptr) {
        is_good_ = call_.context.fail_memory();
        return;
      }
      if (length_ > 0) std::memcpy(grown, text_, length_);
      call_.context.pool.give_back(text_);
      text_ = grown;
      capacity_ = capacity;
    }
    if (length > 0) std::memcpy(text_ + length_, text, length);
    length_ += length;
  }

  void add(const char* text) { add(text, std::strlen(text)); }
  void add(const String& string) { add(string.text(), string.length); }

  void add(const Value& value, uint32_t depth = 0) {
    if (depth > kMostDepth) is_good_ = call_.context.fail("values are nested deeper than %u", kMostDepth);
    if (!is_good_) return;
    char number[64];
    switch (value.tag()) {
      case Tag::kNone:
        return add("None");
      case Tag::kBool:
        return add(value.as_bool() ? "True" : "False");
      case Tag::kInt:
        std::snprintf(number, sizeof number, "%lld", static_cast<long long>(value.as_int()));
        return add(number);
      case Tag::kFloat:
        return add_float(value.as_float());
      case Tag::kDevice:
        return add("cpu");
      case Tag::kString:
        return add(value.string());
      case Tag::kTensor:
        return add_tensor(value.tensor());
      case Tag::kList:
        return add_elements(value.sequence(), "[", "]", depth);
      case Tag::kTuple:
        return add_elements(value.sequence(), "(", value.sequence().count == 1 ? ",)" : ")", depth);
      case Tag::kDict:
        return add_elements(value.sequence(), "{", "}", depth);
      case Tag::kObject:
        return add("<object>");
    }
  }

  bool give() {
    if (!is_good_) return false;
    String* made = make_string(call_.context.pool, text_, length_);
    if (made == nullptr) return call_.context.fail_memory();
    call_.outputs[0] = Value(made);
    return true;
  }

  bool is_good() const { return is_good_; }

 private:
  // Adds a float: a whole number ends with a point; others have all digits.
  void add_float(double value) {
    char number[64];
    const bool is_whole = std::fabs(value) < 9.2e18 && value == std::trunc(value);
    if (is_whole) {
      std::snprintf(number, sizeof number, "%lld.", static_cast<long long>(value));
    } else {
      std::snprintf(number, sizeof number, "%.17g", value);
    }
    add(number);
  }

  void add_tensor(const Tensor& tensor) {
    add("<tensor of ");
    add(dtype_name(tensor.dtype));
    add(" [");
    for (uint32_t i = 0; i < tensor.rank; ++i) {
      if (i > 0) add(", ");
      add(Value(tensor.sizes[i]));
    }
    add("]>");
  }

  void add_elements(const Sequence& sequence, const char* begin, const char* end, uint32_t depth) {
    add(begin);
    for (uint32_t i = 0; i < sequence.count && is_good_; ++i) {
      if (i > 0) add(sequence.head.tag == Tag::kDict && i % 2 == 1 ? ": " : ", ");
      add(sequence.values[i], depth + 1);
    }
    add(end);
  }

  Call& call_;
  char* text_ = nullptr;
  size_t length_ = 0, capacity_ = 0;
  bool is_good_ = true;
};

bool text_at(Call& call, uint32_t number, const String** text) {
  const Value& input = call.input(number);
  if (input.tag() != Tag::kString) {
    return call.context.fail("argument %u is %s, needs a text", number + 1, kind_name(input));
  }
  *text = &input.string();
  return true;
}

// Runs format: replaces each {} by the next of the other arguments.
bool format(Call& call) {
  const String* text = nullptr;
  if (call.input_count == 0) return call.context.fail("a text is needed");
  if (!text_at(call, 0, &text)) return false;
  TextBuilder builder(call);
  uint32_t used = 1;
  const char* at = text->text();
  const char* const end = at + text->length;
  while (const char* place = std::strstr(at, "{}")) {
    builder.add(at, static_cast<size_t>(place - at));
    if (used >= call.input_count) return call.context.fail("too few values for the text %.100s", text->text());
    builder.add(call.input(used++));
    at = place + 2;
  }
  builder.add(at, static_cast<size_t>(end - at));
  return builder.give();
}

bool to_text(Call& call) {
  TextBuilder builder(call);
  builder.add(call.input(0));
  return builder.give();
}

bool join(Call& call) {
  const String* between = nullptr;
  Sequence* list = nullptr;
  if (!text_at(call, 0, &between) || !list_at(call, 1, &list)) return false;
  TextBuilder builder(call);
  for (uint32_t i = 0; i < list->count; ++i) {
    const Value& part = list->values[i];
    if (part.tag() != Tag::kString) return call.context.fail("element %u is %s, texts are needed", i, kind_name(part));
    if (i > 0) builder.add(*between);
    builder.add(part.string());
  }
  return builder.give();
}

bool concatenate(Call& call) {
  const String *first = nullptr, *second = nullptr;
  if (!text_at(call, 0, &first) || !text_at(call, 1, &second)) return false;
  TextBuilder builder(call);
  builder.add(*first);
  builder.add(*second);
  return builder.give();
}

bool length(Call& call) {
  const String* text = nullptr;
  if (!text_at(call, 0, &text)) return false;
  call.outputs[0] = Value(int64_t{text->length});
  return true;
}

bool letter(Call& call) {
  const String* text = nullptr;
  int64_t given = 0;
  if (!text_at(call, 0, &text) || !int_at(call, 1, &given)) return false;
  const int64_t index = given < 0 ? given + text->length : given;
  if (index < 0 || index >= text->length) {
    return call.context.fail("the text has %u letters, no letter %lld", text->length, static_cast<long long>(given));
  }
  String* made = make_string(call.context.pool, text->text() + index, 1);
  if (made == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(made);
  return true;
}

bool letters(Call& call) {
  const String* text = nullptr;
  if (!text_at(call, 0, &text)) return false;
  Sequence* list = make_sequence(call.context.pool, Tag::kList, text->length);
  if (list == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(list);
  for (uint32_t i = 0; i < text->length; ++i) {
    String* made = make_string(call.context.pool, text->text() + i, 1);
    if (made == nullptr) return call.context.fail_memory();
    list->values[i] = Value(made);
  }
  return true;
}

bool change_letters(Call& call, char first, char last, int distance) {
  const String* text = nullptr;
  if (!text_at(call, 0, &text)) return false;
  String* made = make_string(call.context.pool, text->text(), text->length);
  if (made == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(made);
  auto* bytes = reinterpret_cast<char*>(made + 1);
  for (uint32_t i = 0; i < made->length; ++i) {
    if (bytes[i] >= first && bytes[i] <= last) bytes[i] = static_cast<char>(bytes[i] + distance);
  }
  return true;
}

bool lower(Call& call) {
  return change_letters(call, 'A', 'Z', 'a' - 'A');
}

bool upper(Call& call) {
  return change_letters(call, 'a', 'z', 'A' - 'a');
}

// Gives the type of a device; programs know only "cpu".
bool device_type(Call& call) {
  if (call.input(0).tag() != Tag::kDevice)
    return call.context.fail("%s found, a device needed", kind_name(call.input(0)));
  String* made = make_string(call.context.pool, "cpu", 3);
  call.outputs[0] = Value(made);
  return made != nullptr || call.context.fail_memory();
}

constexpr OperatorRow kRows[] = {
    {"aten::format", kAny, 1, format},    {"aten::str", 1, 1, to_text},      {"aten::join", 2, 1, join},
    {"aten::add.str", 2, 1, concatenate}, {"aten::len.str", 1, 1, length},   {"aten::__getitem__.str", 2, 1, letter},
    {"prim::StringIndex", 2, 1, letter},  {"aten::list", 1, 1, letters},     {"aten::lower", 1, 1, lower},
    {"aten::upper", 1, 1, upper},         {"prim::type", 1, 1, device_type},
};

}  // namespace

const OperatorTable text_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
