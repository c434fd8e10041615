// SPDX-License-Identifier: BSD-3-Clause
// Helps operators and the interpreter with lists and dicts.
#pragma once

#include <cstdint>

#include "lib/program/operators.h"

namespace nnapi_shim::program {

// Returns in `is_equal` whether two numbers, texts, devices or Nones are equal, or lists and tuples of them. Fails for
// other kinds.
bool equals(Context& context, const Value& a, const Value& b, bool* is_equal);

// Fails for a constant, which no program changes.
bool may_change(Context& context, const Sequence& sequence);

// Finds the value of a key. Null if there is none; fails for a key that is no text, number or bool.
bool find_item(Context& context, const Sequence& dict, const Value& key, Value** value);
bool set_item(Context& context, Sequence& dict, const Value& key, const Value& value);

constexpr uint32_t kMostElements = 1u << 28;  // in a list or dict that an operator makes

// Makes the sequence the first output; fails if it is null, for want of memory.
bool give(Call& call, Sequence* made);
// Returns a new sequence with `count` elements of another list, tuple or dict, from `begin` on; null if memory is
// short.
Sequence* copy_of(Call& call, const Sequence& from, Tag tag, uint32_t begin, uint32_t count);
// Removes and returns an element, and moves those behind it.
Value take_out(Sequence& list, uint32_t index);

// Readers of arguments, as those of operators.h.
bool list_at(Call& call, uint32_t number, Sequence** list);  // a list or tuple
bool dict_at(Call& call, uint32_t number, Sequence** dict);

}  // namespace nnapi_shim::program
