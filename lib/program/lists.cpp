// SPDX-License-Identifier: BSD-3-Clause
// Operators on lists and tuples, and slices of texts.
#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/program/arguments.h"
#include "lib/program/containers.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

// Reads the index of an element; one below 0 counts from the end.
bool index_at(Call& call, uint32_t number, const Sequence& list, uint32_t* index) {
  int64_t given = 0;
  if (!int_at(call, number, &given)) return false;
  const int64_t wrapped = given < 0 ? given + list.count : given;
  if (wrapped < 0 || wrapped >= list.count) {
    return call.context.fail("the list has %u elements, no element %lld", list.count, static_cast<long long>(given));
  }
  *index = static_cast<uint32_t>(wrapped);
  return true;
}

bool changing_list_at(Call& call, Sequence** list) {
  return list_at(call, 0, list) && may_change(call.context, **list);
}

void clear_all(Sequence& list) {
  while (list.count > 0) list.values[--list.count].~Value();
}

bool get_element(Call& call) {
  Sequence* list = nullptr;
  uint32_t index = 0;
  if (!list_at(call, 0, &list) || !index_at(call, 1, *list, &index)) return false;
  call.outputs[0] = list->values[index];
  return true;
}

bool set_element(Call& call) {
  Sequence* list = nullptr;
  uint32_t index = 0;
  if (!changing_list_at(call, &list) || !index_at(call, 1, *list, &index)) return false;
  list->values[index] = call.input(2);
  call.outputs[0] = call.input(0);
  return true;
}

bool append_to(Call& call, Sequence& list, const Value& value) {
  return (list.count < kMostElements && append(list, value)) || call.context.fail_memory();
}

bool add_element(Call& call) {
  Sequence* list = nullptr;
  if (!changing_list_at(call, &list) || !append_to(call, *list, call.input(1))) return false;
  call.outputs[0] = call.input(0);
  return true;
}

bool add_all(Sequence& list, const Sequence& more) {
  const uint32_t count = more.count;  // it may be the same list
  if (count > kMostElements - std::min(list.count, kMostElements)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!append(list, more.values[i])) return false;
  }
  return true;
}

bool extend(Call& call) {
  Sequence *list = nullptr, *more = nullptr;
  if (!changing_list_at(call, &list) || !list_at(call, 1, &more)) return false;
  if (!add_all(*list, *more)) return call.context.fail_memory();
  if (call.output_count > 0) call.outputs[0] = call.input(0);
  return true;
}

bool insert(Call& call) {
  Sequence* list = nullptr;
  int64_t index = 0;
  if (!changing_list_at(call, &list) || !int_at(call, 1, &index)) return false;
  if (index < 0) index = std::max<int64_t>(index + list->count, 0);
  index = std::min<int64_t>(index, list->count);
  if (!append_to(call, *list, call.input(2))) return false;
  for (uint32_t i = list->count - 1; i > index; --i) std::swap(list->values[i], list->values[i - 1]);
  return true;
}

bool pop_element(Call& call) {
  Sequence* list = nullptr;
  uint32_t index = 0;
  if (!changing_list_at(call, &list) || !index_at(call, 1, *list, &index)) return false;
  Value taken = take_out(*list, index);
  if (call.output_count > 0) call.outputs[0] = std::move(taken);
  return true;
}

bool clear(Call& call) {
  Sequence* list = nullptr;
  if (call.input(0).tag() == Tag::kDict ? !dict_at(call, 0, &list) : !list_at(call, 0, &list)) return false;
  if (!may_change(call.context, *list)) return false;
  clear_all(*list);
  return true;
}

bool reverse(Call& call) {
  Sequence* list = nullptr;
  if (!changing_list_at(call, &list)) return false;
  std::reverse(list->values, list->values + list->count);
  return true;
}

bool is_one_element(const Value& value) {
  return value.is_tensor() && value.tensor().numel() == 1;
}

// Compares as Python does: tensors of one element by that element, tuples by the first elements that differ.
bool comes_before(const Value& a, const Value& b) {
  if (a.tag() == Tag::kTuple) {
    const Sequence &first = a.sequence(), &second = b.sequence();
    for (uint32_t i = 0; i < first.count; ++i) {
      if (comes_before(first.values[i], second.values[i])) return true;
      if (comes_before(second.values[i], first.values[i])) return false;
    }
    return false;
  }
  if (a.is_tensor()) {
    const Tensor &first = a.tensor(), &second = b.tensor();
    if (compute_of(promote_types(first.dtype, second.dtype)) == Compute::kInt) {
      return load_int(first, first.offset) < load_int(second, second.offset);
    }
    return load_double(first, first.offset) < load_double(second, second.offset);
  }
  if (a.tag() == Tag::kString) return std::strcmp(a.string().text(), b.string().text()) < 0;
  if (a.tag() == Tag::kFloat || b.tag() == Tag::kFloat) return number_of(a) < number_of(b);
  return a.as_int() < b.as_int();
}

// Returns whether comes_before() takes the values. `depth`: how deep tuples may hold tuples.
bool can_compare(const Value& a, const Value& b, uint32_t depth) {
  if (is_number(a) || is_number(b)) return is_number(a) && is_number(b);
  if (a.tag() != b.tag()) return false;
  if (a.is_tensor()) return is_one_element(a) && is_one_element(b);
  if (a.tag() != Tag::kTuple) return a.tag() == Tag::kString;
  const Sequence &first = a.sequence(), &second = b.sequence();
  if (depth == 0 || first.count != second.count) return false;
  for (uint32_t i = 0; i < first.count; ++i) {
    if (!can_compare(first.values[i], second.values[i], depth - 1)) return false;
  }
  return true;
}

// Sorts by merging, from the smallest runs to the largest: equal elements keep their order.
bool sort_values(Call& call, Sequence& list, bool is_reverse) {
  constexpr uint32_t kMostDepth = 16;
  for (uint32_t i = 0; i < list.count; ++i) {
    if (!can_compare(list.values[0], list.values[i], kMostDepth)) {
      return call.context.fail(
          "a list that holds %s is sorted: only numbers, texts, tensors of one element and tuples of "
          "them can be",
          kind_name(list.values[i]));
    }
  }
  auto* other = static_cast<Value*>(call.context.pool.take(list.count * sizeof(Value)));
  if (other == nullptr) return call.context.fail_memory();
  Value* from = list.values;
  Value* to = other;
  const auto is_before = [&](const Value& a, const Value& b) {
    return is_reverse ? comes_before(b, a) : comes_before(a, b);
  };
  const auto move = [&](uint32_t source, uint32_t target) {
    std::memcpy(static_cast<void*>(to + target), from + source, sizeof(Value));
  };
  for (uint64_t run = 1; run < list.count; run *= 2) {
    for (uint64_t begin = 0; begin < list.count; begin += 2 * run) {
      const auto middle = static_cast<uint32_t>(std::min<uint64_t>(begin + run, list.count));
      const auto end = static_cast<uint32_t>(std::min<uint64_t>(begin + 2 * run, list.count));
      uint32_t left = static_cast<uint32_t>(begin), right = middle;
      for (auto at = static_cast<uint32_t>(begin); at < end; ++at) {
        const bool takes_right = left == middle || (right < end && is_before(from[right], from[left]));
        move(takes_right ? right++ : left++, at);
      }
    }
    std::swap(from, to);
  }
  if (from != list.values) std::memcpy(static_cast<void*>(list.values), from, list.count * sizeof(Value));
  call.context.pool.give_back(other);
  return true;
}

bool sort(Call& call) {
  Sequence* list = nullptr;
  bool is_reverse = false;
  return changing_list_at(call, &list) && bool_at(call, 1, &is_reverse) && sort_values(call, *list, is_reverse);
}

bool sorted(Call& call) {
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  return give(call, copy_of(call, *list, Tag::kList, 0, list->count)) &&
         sort_values(call, call.outputs[0].sequence(), false);
}

bool copy_list(Call& call) {
  Sequence* list = nullptr;
  return list_at(call, 0, &list) && give(call, copy_of(call, *list, Tag::kList, 0, list->count));
}

bool count_elements(Call& call) {
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  call.outputs[0] = Value(int64_t{list->count});
  return true;
}

bool slice_bounds(Call& call, int64_t count, int64_t* begin, int64_t* step, int64_t* length) {
  int64_t end = 0;
  if (!int_at(call, 3, step)) return false;
  if (*step == 0) return call.context.fail("a step of 0, another one is needed");
  if (*step == INT64_MIN) ++*step;
  // Reads bounds as Python does: a bound below 0 counts from the end, and one outside of the list is clamped.
  const int64_t lowest = *step > 0 ? 0 : -1, highest = *step > 0 ? count : count - 1;
  const auto bound = [&](uint32_t number, int64_t otherwise, int64_t* value) {
    *value = otherwise;
    if (call.input(number).is_none()) return true;
    if (!int_at(call, number, value)) return false;
    if (*value < 0) *value = *value < -count ? lowest : *value + count;
    *value = std::min(std::max(*value, lowest), highest);
    return true;
  };
  if (!bound(1, *step > 0 ? lowest : highest, begin) || !bound(2, *step > 0 ? highest : lowest, &end)) return false;
  const int64_t distance = *step > 0 ? end - *begin : *begin - end, stride = *step > 0 ? *step : -*step;
  *length = distance > 0 ? (distance - 1) / stride + 1 : 0;
  return true;
}

bool slice_list(Call& call) {
  Sequence* list = nullptr;
  int64_t begin = 0, step = 0, length = 0;
  if (!list_at(call, 0, &list) || !slice_bounds(call, list->count, &begin, &step, &length)) return false;
  if (!give(call, make_sequence(call.context.pool, Tag::kList, static_cast<uint32_t>(length)))) return false;
  Sequence& made = call.outputs[0].sequence();
  for (int64_t i = 0; i < length; ++i) made.values[i] = list->values[begin + i * step];
  return true;
}

bool slice_text(Call& call) {
  if (call.input(0).tag() != Tag::kString) return call.context.fail("argument 1 needs a text");
  const String& text = call.input(0).string();
  int64_t begin = 0, step = 0, length = 0;
  if (!slice_bounds(call, text.length, &begin, &step, &length)) return false;
  String* made = make_string(call.context.pool, nullptr, static_cast<size_t>(length));
  if (made == nullptr) return call.context.fail_memory();
  call.outputs[0] = Value(made);
  auto* bytes = reinterpret_cast<char*>(made + 1);
  for (int64_t i = 0; i < length; ++i) bytes[i] = text.text()[begin + i * step];
  return true;
}

bool join_lists(Call& call) {
  Sequence *first = nullptr, *second = nullptr;
  if (!list_at(call, 0, &first) || !list_at(call, 1, &second)) return false;
  if (uint64_t{first->count} + second->count > kMostElements) return call.context.fail_memory();
  if (!give(call, make_sequence(call.context.pool, Tag::kList, first->count + second->count))) return false;
  Sequence& made = call.outputs[0].sequence();
  for (uint32_t i = 0; i < first->count; ++i) made.values[i] = first->values[i];
  for (uint32_t i = 0; i < second->count; ++i) made.values[first->count + i] = second->values[i];
  return true;
}

bool repeat(Call& call) {
  const uint32_t list_number = call.input(0).tag() == Tag::kInt ? 1 : 0;
  Sequence* list = nullptr;
  int64_t times = 0;
  if (!list_at(call, list_number, &list) || !int_at(call, 1 - list_number, &times)) return false;
  times = std::max<int64_t>(times, 0);
  if (list->count > 0 && times > kMostElements / list->count) return call.context.fail_memory();
  const auto count = static_cast<uint32_t>(list->count == 0 ? 0 : list->count * times);
  if (!give(call, make_sequence(call.context.pool, Tag::kList, count))) return false;
  Sequence& made = call.outputs[0].sequence();
  for (uint32_t i = 0; i < count; ++i) made.values[i] = list->values[i % list->count];
  return true;
}

bool find_element(Call& call, bool* is_found, uint32_t* index) {
  Sequence* list = nullptr;
  *is_found = false;
  if (!list_at(call, 0, &list)) return false;
  for (*index = 0; *index < list->count; ++*index) {
    if (!equals(call.context, list->values[*index], call.input(1), is_found)) return false;
    if (*is_found) return true;
  }
  return true;
}

bool contains_element(Call& call) {
  bool is_found = false;
  uint32_t index = 0;
  if (!find_element(call, &is_found, &index)) return false;
  call.outputs[0] = Value(is_found);
  return true;
}

bool index_of(Call& call) {
  bool is_found = false;
  uint32_t index = 0;
  if (!find_element(call, &is_found, &index)) return false;
  if (!is_found) return call.context.fail("the value is not in the list");
  call.outputs[0] = Value(int64_t{index});
  return true;
}

bool count_equal(Call& call) {
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  int64_t found = 0;
  for (uint32_t i = 0; i < list->count; ++i) {
    bool is_equal = false;
    if (!equals(call.context, list->values[i], call.input(1), &is_equal)) return false;
    found += is_equal ? 1 : 0;
  }
  call.outputs[0] = Value(found);
  return true;
}

bool remove_element(Call& call) {
  Sequence* list = nullptr;
  bool is_found = false;
  uint32_t index = 0;
  if (!changing_list_at(call, &list) || !find_element(call, &is_found, &index)) return false;
  if (!is_found) return call.context.fail("the value is not in the list");
  take_out(*list, index);
  return true;
}

bool is_true(Call& call, const Value& value, bool* result) {
  if (value.tag() == Tag::kString) {
    *result = value.string().length > 0;
    return true;
  }
  if (value.tag() == Tag::kNone || value.tag() > Tag::kFloat) {
    return call.context.fail("a list holds %s, numbers are needed", kind_name(value));
  }
  *result = number_of(value) != 0;
  return true;
}

bool any_or_all(Call& call, bool is_any) {
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  for (uint32_t i = 0; i < list->count; ++i) {
    bool element = false;
    if (!is_true(call, list->values[i], &element)) return false;
    if (element != is_any) continue;
    call.outputs[0] = Value(is_any);
    return true;
  }
  call.outputs[0] = Value(!is_any);
  return true;
}

bool any(Call& call) {
  return any_or_all(call, true);
}

bool all(Call& call) {
  return any_or_all(call, false);
}

bool sum(Call& call) {
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  double real = 0;
  uint64_t whole = 0;
  bool is_float = false;
  for (uint32_t i = 0; i < list->count; ++i) {
    bool ignored = false;
    if (!is_true(call, list->values[i], &ignored)) return false;
    if (list->values[i].tag() == Tag::kString) return call.context.fail("texts have no sum");
    is_float = is_float || list->values[i].tag() == Tag::kFloat;
    real += number_of(list->values[i]);
    if (list->values[i].tag() != Tag::kFloat) whole += static_cast<uint64_t>(list->values[i].as_int());
  }
  call.outputs[0] = is_float ? Value(real) : Value(static_cast<int64_t>(whole));
  return true;
}

bool slice_tuple(Call& call) {
  Sequence* tuple = nullptr;
  int64_t begin = 0, end = 0;
  if (!list_at(call, 0, &tuple) || !int_at(call, 1, &begin) || !int_at(call, 2, &end)) return false;
  if (begin < 0 || end > tuple->count || begin > end) {
    return call.context.fail("the tuple has %u elements, those from %lld to %lld are asked for", tuple->count,
                             static_cast<long long>(begin), static_cast<long long>(end));
  }
  return give(call,
              copy_of(call, *tuple, Tag::kTuple, static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin)));
}

bool range_list(Call& call) {
  int64_t count = 0;
  if (!int_at(call, 0, &count)) return false;
  count = std::max<int64_t>(count, 0);
  if (count > kMostElements) return call.context.fail_memory();
  if (!give(call, make_sequence(call.context.pool, Tag::kList, static_cast<uint32_t>(count)))) return false;
  for (int64_t i = 0; i < count; ++i) call.outputs[0].sequence().values[i] = Value(i);
  return true;
}

constexpr OperatorRow kRows[] = {
    {"aten::__getitem__.t", 2, 1, get_element},
    {"prim::TupleIndex", 2, 1, get_element},
    {"prim::ModuleContainerIndex.list", 2, 1, get_element},
    {"aten::_set_item.t", 3, 1, set_element},
    {"aten::append.t", 2, 1, add_element},
    {"aten::extend.t", 2, 0, extend},
    {"aten::add_.t", 2, 1, extend},
    {"aten::insert.t", 3, 0, insert},
    {"aten::pop.t", 2, 1, pop_element},
    {"aten::Delete.t", 2, 0, pop_element},
    {"aten::clear.t,int,str,float,bool", 1, 0, clear},
    {"aten::reverse.t", 1, 0, reverse},
    {"aten::sort.int,float,bool,str,Tensor,any", 2, 0, sort},
    {"aten::sorted.int,float,bool,str,Tensor,any", 1, 1, sorted},
    {"aten::copy.t", 1, 1, copy_list},
    {"aten::list.t", 1, 1, copy_list},
    {"aten::len.t,any", 1, 1, count_elements},
    {"aten::slice.t", 4, 1, slice_list},
    {"aten::slice.str", 4, 1, slice_text},
    {"aten::add.t", 2, 1, join_lists},
    {"aten::mul.left_t,right_", 2, 1, repeat},
    {"aten::__contains__.int_list,float_list,str_list", 2, 1, contains_element},
    {"aten::index.list_int,list_float,list_bool,list_str", 2, 1, index_of},
    {"aten::count.int,float,bool,str", 2, 1, count_equal},
    {"aten::remove.int,float,bool,str", 2, 0, remove_element},
    {"aten::any.int,float,bool,str", 1, 1, any},
    {"aten::all.int,float,bool", 1, 1, all},
    {"aten::sum.int,float,bool", 1, 1, sum},
    {"prim::TupleSlice", 3, 1, slice_tuple},
    {"prim::rangelist", 1, 1, range_list},
};

}  // namespace

const OperatorTable list_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
