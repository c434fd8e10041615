// SPDX-License-Identifier: BSD-3-Clause
#include "lib/program/containers.h"

#include <cstring>
#include <utility>

#include "lib/format/program_format.h"

namespace nnapi_shim::program {
namespace {

using nnapi_convert::program_format::kMostDepth;

bool is_number_tag(Tag tag) {
  return tag == Tag::kBool || tag == Tag::kInt || tag == Tag::kFloat;
}

bool is_list_tag(Tag tag) {
  return tag == Tag::kList || tag == Tag::kTuple;
}

bool equals_within(Context& context, const Value& a, const Value& b, uint32_t depth, bool* is_equal) {
  *is_equal = false;
  const Tag left = a.tag(), right = b.tag();
  if (depth > kMostDepth) return context.fail("lists are nested deeper than %u", kMostDepth);
  if (is_number_tag(left) && is_number_tag(right)) {
    if (left == Tag::kFloat || right == Tag::kFloat) {
      *is_equal = (left == Tag::kFloat ? a.as_float() : static_cast<double>(a.as_int())) ==
                  (right == Tag::kFloat ? b.as_float() : static_cast<double>(b.as_int()));
    } else {
      *is_equal = a.as_int() == b.as_int();
    }
    return true;
  }
  if (left == Tag::kTensor || left == Tag::kDict || left == Tag::kObject || right == Tag::kTensor) {
    return context.fail("%s and %s are compared: only numbers, texts and lists of them can be", kind_name(a),
                        kind_name(b));
  }
  if (left == Tag::kString && right == Tag::kString) {
    *is_equal = a.string().length == b.string().length &&
                std::memcmp(a.string().text(), b.string().text(), a.string().length) == 0;
    return true;
  }
  if (is_list_tag(left) && left == right) {
    const Sequence &first = a.sequence(), &second = b.sequence();
    if (first.count != second.count) return true;
    *is_equal = true;
    for (uint32_t i = 0; i < first.count && *is_equal; ++i) {
      if (context.steps_left == 0) return context.fail("the program takes more steps than it may");
      --context.steps_left;
      if (!equals_within(context, first.values[i], second.values[i], depth + 1, is_equal)) return false;
    }
    return true;
  }
  *is_equal = left == right;  // None and the one device
  return true;
}

}  // namespace

bool equals(Context& context, const Value& a, const Value& b, bool* is_equal) {
  return equals_within(context, a, b, 0, is_equal);
}

bool may_change(Context& context, const Sequence& sequence) {
  if (sequence.head.pool != nullptr) return true;
  return context.fail("a list or dict that is a constant, or a default, can't be changed");
}

bool find_item(Context& context, const Sequence& dict, const Value& key, Value** value) {
  *value = nullptr;
  if (!is_number_tag(key.tag()) && key.tag() != Tag::kString) {
    return context.fail("a key of a dict is %s, a number or text is needed", kind_name(key));
  }
  for (uint32_t i = 0; i + 1 < dict.count; i += 2) {
    bool is_equal = false;
    if (!equals(context, dict.values[i], key, &is_equal)) return false;
    if (!is_equal) continue;
    *value = &dict.values[i + 1];
    return true;
  }
  return true;
}

bool set_item(Context& context, Sequence& dict, const Value& key, const Value& value) {
  Value* found = nullptr;
  if (!may_change(context, dict) || !find_item(context, dict, key, &found)) return false;
  if (found != nullptr) {
    *found = value;
    return true;
  }
  if (!append(dict, key)) return context.fail_memory();
  if (append(dict, value)) return true;
  --dict.count;
  dict.values[dict.count].~Value();
  return context.fail_memory();
}

bool give(Call& call, Sequence* made) {
  if (made == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(made);
  return true;
}

Sequence* copy_of(Call& call, const Sequence& from, Tag tag, uint32_t begin, uint32_t count) {
  Sequence* made = make_sequence(call.context.pool, tag, count);
  for (uint32_t i = 0; made != nullptr && i < count; ++i) made->values[i] = from.values[begin + i];
  return made;
}

Value take_out(Sequence& list, uint32_t index) {
  Value taken = std::move(list.values[index]);
  for (uint32_t i = index; i + 1 < list.count; ++i) list.values[i] = std::move(list.values[i + 1]);
  list.values[--list.count].~Value();
  return taken;
}

bool list_at(Call& call, uint32_t number, Sequence** list) {
  const Value& input = call.input(number);
  if (!is_list_tag(input.tag())) {
    return call.context.fail("argument %u is %s, needs a list", number + 1, kind_name(input));
  }
  *list = &input.sequence();
  return true;
}

bool dict_at(Call& call, uint32_t number, Sequence** dict) {
  const Value& input = call.input(number);
  if (input.tag() != Tag::kDict) {
    return call.context.fail("argument %u is %s, needs a dict", number + 1, kind_name(input));
  }
  *dict = &input.sequence();
  return true;
}

}  // namespace nnapi_shim::program
