// SPDX-License-Identifier: BSD-3-Clause
// Operators on dicts.
#include <utility>

#include "lib/program/containers.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

bool find_key(Call& call, Sequence** dict, Value** value) {
  return dict_at(call, 0, dict) && find_item(call.context, **dict, call.input(1), value);
}

bool fail_key(Call& call) {
  const Value& key = call.input(1);
  if (key.tag() == Tag::kString) return call.context.fail("the dict has no key %.100s", key.string().text());
  if (key.tag() == Tag::kFloat) return call.context.fail("the dict has no key %g", key.as_float());
  return call.context.fail("the dict has no key %lld", static_cast<long long>(key.as_int()));
}

bool get_item(Call& call) {
  Sequence* dict = nullptr;
  Value* value = nullptr;
  if (!find_key(call, &dict, &value)) return false;
  if (value == nullptr) return fail_key(call);
  call.outputs[0] = *value;
  return true;
}

bool get_or(Call& call) {
  Sequence* dict = nullptr;
  Value* value = nullptr;
  if (!find_key(call, &dict, &value)) return false;
  if (value != nullptr) {
    call.outputs[0] = *value;
  } else if (call.input_count > 2) {
    call.outputs[0] = call.input(2);
  }
  return true;
}

bool set_default(Call& call) {
  Sequence* dict = nullptr;
  Value* value = nullptr;
  if (!find_key(call, &dict, &value)) return false;
  call.outputs[0] = value != nullptr ? *value : call.input(2);
  return value != nullptr || set_item(call.context, *dict, call.input(1), call.input(2));
}

bool set_item_of(Call& call) {
  Sequence* dict = nullptr;
  return dict_at(call, 0, &dict) && set_item(call.context, *dict, call.input(1), call.input(2));
}

bool contains_key(Call& call) {
  Sequence* dict = nullptr;
  Value* value = nullptr;
  if (!find_key(call, &dict, &value)) return false;
  call.outputs[0] = Value(value != nullptr);
  return true;
}

// Removes the key's pair and gives its value, or the default if there is none.
bool pop_item(Call& call) {
  Sequence* dict = nullptr;
  Value* value = nullptr;
  if (!find_key(call, &dict, &value) || !may_change(call.context, *dict)) return false;
  if (value == nullptr) {
    if (call.input_count < 3) return fail_key(call);
    call.outputs[0] = call.input(2);
    return true;
  }
  const auto index = static_cast<uint32_t>(value - dict->values);
  Value taken = take_out(*dict, index);
  take_out(*dict, index - 1);
  if (call.output_count > 0) call.outputs[0] = std::move(taken);
  return true;
}

bool pop_last(Call& call) {
  Sequence* dict = nullptr;
  if (!dict_at(call, 0, &dict) || !may_change(call.context, *dict)) return false;
  if (dict->count == 0) return call.context.fail("the dict is empty");
  if (!give(call, make_sequence(call.context.pool, Tag::kTuple, 2))) return false;
  Sequence& pair = call.outputs[0].sequence();
  pair.values[1] = take_out(*dict, dict->count - 1);
  pair.values[0] = take_out(*dict, dict->count - 1);
  return true;
}

bool list_half(Call& call, uint32_t which) {
  Sequence* dict = nullptr;
  if (!dict_at(call, 0, &dict) || !give(call, make_sequence(call.context.pool, Tag::kList, dict->count / 2))) {
    return false;
  }
  Sequence& made = call.outputs[0].sequence();
  for (uint32_t i = 0; i < made.count; ++i) made.values[i] = dict->values[2 * i + which];
  return true;
}

bool keys(Call& call) {
  return list_half(call, 0);
}

bool values(Call& call) {
  return list_half(call, 1);
}

bool items(Call& call) {
  Sequence* dict = nullptr;
  if (!dict_at(call, 0, &dict) || !give(call, make_sequence(call.context.pool, Tag::kList, dict->count / 2))) {
    return false;
  }
  Sequence& made = call.outputs[0].sequence();
  for (uint32_t i = 0; i < made.count; ++i) {
    Sequence* pair = copy_of(call, *dict, Tag::kTuple, 2 * i, 2);
    if (pair == nullptr) return call.context.fail_memory();
    made.values[i] = Value(pair);
  }
  return true;
}

bool update(Call& call) {
  Sequence *dict = nullptr, *more = nullptr;
  if (!dict_at(call, 0, &dict) || !dict_at(call, 1, &more)) return false;
  for (uint32_t i = 0; i + 1 < more->count; i += 2) {
    if (!set_item(call.context, *dict, more->values[i], more->values[i + 1])) return false;
  }
  return true;
}

bool copy_dict(Call& call) {
  Sequence* dict = nullptr;
  return dict_at(call, 0, &dict) && give(call, copy_of(call, *dict, Tag::kDict, 0, dict->count));
}

bool count_items(Call& call) {
  Sequence* dict = nullptr;
  if (!dict_at(call, 0, &dict)) return false;
  call.outputs[0] = Value(int64_t{dict->count / 2});
  return true;
}

bool dict_of_pairs(Call& call) {
  if (!give(call, make_sequence(call.context.pool, Tag::kDict, 0))) return false;
  if (call.input_count == 0) return true;
  Sequence* list = nullptr;
  if (!list_at(call, 0, &list)) return false;
  Sequence& dict = call.outputs[0].sequence();
  for (uint32_t i = 0; i < list->count; ++i) {
    const Value& pair = list->values[i];
    if (pair.tag() != Tag::kTuple || pair.sequence().count != 2) {
      return call.context.fail("element %u is %s, a pair of key and value is needed", i, kind_name(pair));
    }
    if (!set_item(call.context, dict, pair.sequence().values[0], pair.sequence().values[1])) return false;
  }
  return true;
}

constexpr OperatorRow kRows[] = {
    {"aten::__getitem__.Dict_str,Dict_int,Dict_float,Dict_bool", 2, 1, get_item},
    {"prim::ModuleContainerIndex.dict", 2, 1, get_item},
    {"aten::get.str,int,float,bool", 2, 1, get_or},
    {"aten::get.default_str,default_int,default_float,default_bool", 3, 1, get_or},
    {"aten::setdefault.str,int,float,bool", 3, 1, set_default},
    {"aten::_set_item.str,int,float,bool", 3, 0, set_item_of},
    {"aten::__contains__.str,int,float,bool", 2, 1, contains_key},
    {"aten::pop.Dict_str,Dict_int,Dict_float,Dict_bool", 2, 1, pop_item},
    {"aten::pop.Dict_default_str,Dict_default_int,Dict_default_float,Dict_default_bool", 3, 1, pop_item},
    {"aten::Delete.Dict_str,Dict_int,Dict_float,Dict_bool", 2, 0, pop_item},
    {"aten::popitem.str,int,float,bool", 1, 1, pop_last},
    {"aten::keys.str,int,float,bool", 1, 1, keys},
    {"aten::values.str,int,float,bool", 1, 1, values},
    {"aten::items.str,int,float,bool", 1, 1, items},
    {"aten::update.str,int,float,bool", 2, 0, update},
    {"aten::copy.Dict_str,Dict_int,Dict_float,Dict_bool", 1, 1, copy_dict},
    {"aten::dict.Dict_str,Dict_int,Dict_float,Dict_bool", 1, 1, copy_dict},
    {"aten::dict.str,int,float,bool", 1, 1, dict_of_pairs},
    {"aten::dict", 0, 1, dict_of_pairs},
    {"aten::len.Dict_str,Dict_int,Dict_float,Dict_bool", 1, 1, count_items},
};

}  // namespace

const OperatorTable dict_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
