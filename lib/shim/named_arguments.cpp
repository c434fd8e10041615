// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/named_arguments.h"

#include <cstdio>
#include <cstring>

#include "lib/shim/failure.h"

namespace nnapi_shim {
namespace {

using program::Context;
using program::ScalarType;
using program::Tag;
using program::Tensor;
using program::Type;
using program::Value;
using Kind = program::Type::Kind;

constexpr uint32_t kMostGiven = 1 << 16;

bool is_integer(ScalarType dtype) {
  return dtype <= ScalarType::kInt64;
}

// The given tensors that make up one value: their numbers, in memory of the pool.
struct Group {
  const uint32_t* numbers;
  uint32_t count;
};

class ArgumentMaker {
 public:
  ArgumentMaker(Context& context, const nnapi_shim_named_tensor* tensors, uint32_t count, nnapi_shim_error* error)
      : context_(context), tensors_(tensors), count_(count), error_(error) {}
  ArgumentMaker(const ArgumentMaker&) = delete;
  ArgumentMaker& operator=(const ArgumentMaker&) = delete;
  ~ArgumentMaker() {
    context_.pool.give_back(numbers_);
    context_.pool.give_back(used_);
  }

  int make(const program::Method& method, Value* values) {
    numbers_ = static_cast<uint32_t*>(context_.pool.take((size_t{count_} + 1) * sizeof(uint32_t)));
    used_ = static_cast<uint8_t*>(context_.pool.take(size_t{count_} + 1));
    if (numbers_ == nullptr || used_ == nullptr) return fail_memory();
    for (uint32_t i = 0; i < count_; ++i) {
      if (tensors_[i].path == nullptr) return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %u has no path", i);
      const char* at = tensors_[i].path;
      PathStep step{};
      while (read_step(&at, at == tensors_[i].path, &step)) {
      }
      if (*at != '\0' || at == tensors_[i].path) {
        return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %u: \"%.150s\" is no path, such as x, x[0] or x.name", i,
                    tensors_[i].path);
      }
      if (!names_argument(method, tensors_[i].path)) return fail_unknown(method, tensors_[i].path);
      numbers_[i] = i;
      used_[i] = 0;
    }
    const Group all = {numbers_, count_};
    for (size_t i = 0; i < method.arguments.size(); ++i) {
      const program::Argument& argument = method.arguments[i];
      if (const int status = make_argument(argument, static_cast<uint32_t>(i), all, &values[i])) return status;
    }
    for (uint32_t i = 0; i < count_; ++i) {
      if (used_[i] == 0) return fail_unknown(method, tensors_[i].path);
    }
    return NNAPI_SHIM_OK;
  }

 private:
  // Finds step `number` of a path. Returns false if the path has fewer steps.
  static bool step_of(const char* path, uint32_t number, PathStep* step) {
    for (uint32_t i = 0; i <= number; ++i) {
      if (!read_step(&path, i == 0, step)) return false;
    }
    return true;
  }

  bool is_whole(uint32_t number, uint32_t depth) const {
    PathStep step{};
    return !step_of(tensors_[number].path, depth, &step);
  }

  int fail_memory() { return fail(error_, NNAPI_SHIM_FAILED, "memory is short for the arguments"); }

  int fail_missing(const char* name) {
    return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s is missing", name);
  }

  int fail_unknown(const program::Method& method, const char* path) {
    char names[300];
    size_t length = 0;
    names[0] = '\0';
    for (const program::Argument& argument : method.arguments) {
      const size_t more = std::strlen(argument.name) + 2;
      if (length + more >= sizeof names) break;
      std::memcpy(names + length, length > 0 ? ", " : "", length > 0 ? 2 : 0);
      std::memcpy(names + length + (length > 0 ? 2 : 0), argument.name, more - 1);
      length = std::strlen(names);
    }
    return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.150s is unknown: the method %.60s has %s", path,
                method.name, names[0] != '\0' ? names : "none");
  }

  // Lists the tensors of a group whose step `depth` fits. The caller frees `numbers`.
  template <typename Fits>
  bool choose(const Group& from, uint32_t depth, const Fits& fits, uint32_t** numbers, Group* chosen) {
    *numbers = static_cast<uint32_t*>(context_.pool.take((size_t{from.count} + 1) * sizeof(uint32_t)));
    if (*numbers == nullptr) return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < from.count; ++i) {
      PathStep step{};
      if (step_of(tensors_[from.numbers[i]].path, depth, &step) && fits(step)) (*numbers)[count++] = from.numbers[i];
    }
    *chosen = {*numbers, count};
    return true;
  }

  // Makes the part of a value from the tensors whose step `depth` fits.
  template <typename Fits>
  int make_part(const Type& type, const Group& group, uint32_t depth, const Fits& fits, const char* name,
                Value* value) {
    uint32_t* numbers = nullptr;
    Group chosen{};
    int status = choose(group, depth, fits, &numbers, &chosen) ? NNAPI_SHIM_OK : fail_memory();
    if (status == NNAPI_SHIM_OK) status = make_value(type, chosen, depth + 1, name, value);
    context_.pool.give_back(numbers);
    return status;
  }

  // Returns whether the first step of a path is this argument's name or number. No name begins with a digit.
  static bool is_of(const PathStep& step, const program::Argument& argument, uint32_t number) {
    uint32_t index = 0;
    return step.is(argument.name) || (step.to_index(&index) && index == number);
  }

  static bool names_argument(const program::Method& method, const char* path) {
    PathStep step{};
    if (!step_of(path, 0, &step)) return false;
    for (size_t i = 0; i < method.arguments.size(); ++i) {
      if (is_of(step, method.arguments[i], static_cast<uint32_t>(i))) return true;
    }
    return false;
  }

  int make_argument(const program::Argument& argument, uint32_t number, const Group& all, Value* value) {
    const auto fits = [&](const PathStep& step) { return is_of(step, argument, number); };
    if (argument.has_default) {
      bool is_given = false;
      for (uint32_t i = 0; i < all.count && !is_given; ++i) {
        PathStep step{};
        is_given = step_of(tensors_[i].path, 0, &step) && fits(step);
      }
      if (!is_given) {
        *value = argument.default_value;
        return NNAPI_SHIM_OK;
      }
    }
    return make_part(argument.type, all, 0, fits, argument.name, value);
  }

  // Makes a value from tensors whose paths have `depth` steps in common.
  int make_value(const Type& type, const Group& group, uint32_t depth, const char* name, Value* value) {
    switch (type.kind) {
      case Kind::kOptional:
        return group.count == 0 ? NNAPI_SHIM_OK : make_value(type.parts[0], group, depth, name, value);
      case Kind::kNone:
        return NNAPI_SHIM_OK;
      case Kind::kDevice:
        *value = Value::device();
        return NNAPI_SHIM_OK;
      case Kind::kTuple:
        return make_tuple(type, group, depth, name, value);
      case Kind::kList:
        return group.count == 0 ? fail_missing(name) : make_list(type, group, depth, value);
      case Kind::kDict:
        return group.count == 0 ? fail_missing(name) : make_dict(type, group, depth, value);
      default:
        return make_leaf(type, group, depth, name, value);
    }
  }

  int make_leaf(const Type& type, const Group& group, uint32_t depth, const char* name, Value* value) {
    const nnapi_shim_named_tensor* found = nullptr;
    for (uint32_t i = 0; i < group.count; ++i) {
      if (!is_whole(group.numbers[i], depth)) continue;  // a path with more steps is unknown
      const nnapi_shim_named_tensor& tensor = tensors_[group.numbers[i]];
      if (found != nullptr) {
        return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s is given twice", tensor.path);
      }
      found = &tensor;
      used_[group.numbers[i]] = 1;
    }
    if (found == nullptr && group.count > 0) {
      return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: a value without elements is needed",
                  tensors_[group.numbers[0]].path);
    }
    if (found == nullptr) return fail_missing(name);
    if (const int status = borrow_tensor(context_, *found, value, error_)) return status;
    return type.kind == Kind::kTensor ? NNAPI_SHIM_OK : make_number(type, *found, value);
  }

  // Makes a number or a text. A number is given as a tensor without axes, a text as one of bytes.
  int make_number(const Type& type, const nnapi_shim_named_tensor& given, Value* value) {
    const Value keep = *value;
    const Tensor& tensor = keep.tensor();
    if (type.kind == Kind::kString) {
      if (tensor.dtype != ScalarType::kUInt8 || tensor.rank != 1) return fail_kind(given, "a text: uint8 of rank 1");
      *value = Value(program::make_string(context_.pool, static_cast<const char*>(given.data), given.bytes));
      return value->is_none() ? fail_memory() : NNAPI_SHIM_OK;
    }
    const bool is_real = program::is_floating(tensor.dtype), is_whole = is_integer(tensor.dtype);
    if (tensor.rank != 0) return fail_kind(given, "a number: rank 0");
    const bool takes_floats = type.kind == Kind::kFloat || type.kind == Kind::kNumber;
    if (type.kind == Kind::kBool ? tensor.dtype != ScalarType::kBool : is_real ? !takes_floats : !is_whole) {
      return fail_kind(given, type.kind == Kind::kBool ? "a bool" : takes_floats ? "a float" : "an int");
    }
    const bool as_float = type.kind == Kind::kFloat || is_real;
    Value made(program::make_tensor(context_.pool, as_float ? ScalarType::kFloat64 : ScalarType::kInt64, 0, nullptr));
    if (made.is_none()) return fail_memory();
    program::copy_elements(tensor, made.tensor());
    if (type.kind == Kind::kBool) {
      *value = Value(*made.tensor().data<int64_t>() != 0);
    } else {
      *value = as_float ? Value(*made.tensor().data<double>()) : Value(*made.tensor().data<int64_t>());
    }
    return NNAPI_SHIM_OK;
  }

  int fail_kind(const nnapi_shim_named_tensor& given, const char* needed) {
    return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.150s: %s of rank %u found, %s needed", given.path,
                program::dtype_name(static_cast<ScalarType>(given.dtype)), given.rank, needed);
  }

  int make_tuple(const Type& type, const Group& group, uint32_t depth, const char* name, Value* value) {
    program::Sequence* tuple =
        program::make_sequence(context_.pool, Tag::kTuple, static_cast<uint32_t>(type.parts.size()));
    if (tuple == nullptr) return fail_memory();
    *value = Value(tuple);
    for (uint32_t i = 0; i < tuple->count; ++i) {
      const auto fits = [&](const PathStep& step) {
        uint32_t index = 0;
        return (step.to_index(&index) && index == i) || (!type.names.empty() && step.is(type.names[i].c_str()));
      };
      char part[200];
      if (type.names.empty()) {
        std::snprintf(part, sizeof part, "%.120s[%u]", name, i);
      } else {
        std::snprintf(part, sizeof part, "%.100s.%.90s", name, type.names[i].c_str());
      }
      if (const int status = make_part(type.parts[i], group, depth, fits, part, &tuple->values[i])) return status;
    }
    return NNAPI_SHIM_OK;
  }

  int make_list(const Type& type, const Group& group, uint32_t depth, Value* value) {
    uint32_t elements = 0;
    for (uint32_t i = 0; i < group.count; ++i) {
      PathStep step{};
      uint32_t index = 0;
      const char* path = tensors_[group.numbers[i]].path;
      if (!step_of(path, depth, &step) || !step.to_index(&index) || index >= kMostGiven) {
        return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: a list is needed, whose elements are [0], [1]",
                    path);
      }
      elements = index >= elements ? index + 1 : elements;
    }
    if (elements > group.count) {
      return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: elements of the list before it are missing",
                  last_of(group, depth, elements - 1));
    }
    program::Sequence* list = program::make_sequence(context_.pool, Tag::kList, elements);
    if (list == nullptr) return fail_memory();
    *value = Value(list);
    for (uint32_t i = 0; i < elements; ++i) {
      const auto fits = [&](const PathStep& step) {
        uint32_t index = 0;
        return step.to_index(&index) && index == i;
      };
      char part[200];
      std::snprintf(part, sizeof part, "%.180s", last_of(group, depth, elements - 1));
      uint32_t* numbers = nullptr;
      Group chosen{};
      int status = choose(group, depth, fits, &numbers, &chosen) ? NNAPI_SHIM_OK : fail_memory();
      if (status == NNAPI_SHIM_OK && chosen.count == 0) {
        status = fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: element %u of the list is missing", part, i);
      }
      if (status == NNAPI_SHIM_OK) status = make_value(type.parts[0], chosen, depth + 1, part, &list->values[i]);
      context_.pool.give_back(numbers);
      if (status != NNAPI_SHIM_OK) return status;
    }
    return NNAPI_SHIM_OK;
  }

  // Returns the path whose step `depth` is the highest index.
  const char* last_of(const Group& group, uint32_t depth, uint32_t highest) const {
    for (uint32_t i = 0; i < group.count; ++i) {
      PathStep step{};
      uint32_t index = 0;
      const char* path = tensors_[group.numbers[i]].path;
      if (step_of(path, depth, &step) && step.to_index(&index) && index == highest) return path;
    }
    return "";
  }

  int make_dict(const Type& type, const Group& group, uint32_t depth, Value* value) {
    program::Sequence* dict = program::make_sequence(context_.pool, Tag::kDict, 0);
    if (dict == nullptr) return fail_memory();
    *value = Value(dict);
    for (uint32_t i = 0; i < group.count; ++i) {
      PathStep key{};
      const char* path = tensors_[group.numbers[i]].path;
      if (!step_of(path, depth, &key)) {
        return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: a dict is needed, whose values have keys", path);
      }
      const auto fits = [&](const PathStep& step) {
        return step.length == key.length && std::memcmp(step.text, key.text, key.length) == 0;
      };
      bool is_known = false;
      for (uint32_t k = 0; k < i && !is_known; ++k) {
        PathStep earlier{};
        is_known = step_of(tensors_[group.numbers[k]].path, depth, &earlier) && fits(earlier);
      }
      if (is_known) continue;
      Value made_key, made;
      if (!make_key(type.parts[0], key, &made_key)) {
        return fail(error_, NNAPI_SHIM_BAD_ARGUMENT, "argument %.200s: another kind of key is needed", path);
      }
      if (const int status = make_part(type.parts[1], group, depth, fits, path, &made)) return status;
      if (!program::append(*dict, made_key) || !program::append(*dict, made)) return fail_memory();
    }
    return NNAPI_SHIM_OK;
  }

  bool make_key(const Type& type, const PathStep& step, Value* key) {
    if (type.kind == Kind::kInt) {
      uint32_t index = 0;
      if (!step.to_index(&index)) return false;
      *key = Value(int64_t{index});
      return true;
    }
    if (type.kind != Kind::kString) return false;
    program::String* made = program::make_string(context_.pool, step.text, step.length);
    if (made == nullptr) return false;
    *key = Value(made);
    if (!step.is_quoted) return true;
    auto* text = reinterpret_cast<char*>(made + 1);
    uint32_t length = 0;
    for (uint32_t i = 0; i < made->length; ++i) {
      if (text[i] == '\\' && i + 1 < made->length) ++i;
      text[length++] = text[i];
    }
    text[length] = '\0';
    made->length = length;
    return true;
  }

  Context& context_;
  const nnapi_shim_named_tensor* const tensors_;
  const uint32_t count_;
  nnapi_shim_error* const error_;
  uint32_t* numbers_ = nullptr;
  uint8_t* used_ = nullptr;  // by tensor: 1 or 0
};

}  // namespace

bool PathStep::is(const char* name) const {
  size_t at = 0;
  for (size_t i = 0; i < length; ++i, ++at) {
    if (is_quoted && text[i] == '\\' && i + 1 < length) ++i;
    if (name[at] != text[i] || name[at] == '\0') return false;
  }
  return name[at] == '\0';
}

bool PathStep::to_index(uint32_t* index) const {
  if (length == 0 || length > 9 || is_quoted) return false;
  *index = 0;
  for (size_t i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    *index = *index * 10 + static_cast<uint32_t>(text[i] - '0');
  }
  return true;
}

bool read_step(const char** at, bool is_first, PathStep* step) {
  const char* from = *at;
  if (*from == '\0') return false;
  if (*from == '[') {
    ++from;
    step->is_quoted = *from == '"';
    if (step->is_quoted) ++from;
    step->text = from;
    while (*from != '\0' && *from != (step->is_quoted ? '"' : ']')) {
      if (step->is_quoted && *from == '\\' && from[1] != '\0') ++from;
      ++from;
    }
    step->length = static_cast<size_t>(from - step->text);
    if (step->is_quoted && *from == '"') ++from;
    if (*from != ']') return false;
    *at = from + 1;
    return true;
  }
  if (*from == '.') {
    ++from;
  } else if (!is_first) {
    return false;
  }
  step->is_quoted = false;
  step->text = from;
  step->length = std::strcspn(from, "[.");
  *at = from + step->length;
  return step->length > 0;
}

int make_arguments(const program::Method& method, Context& context, const nnapi_shim_named_tensor* tensors,
                   uint32_t count, Value* values, nnapi_shim_error* error) {
  if (count > kMostGiven) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "%u arguments found, at most %u are possible", count, kMostGiven);
  }
  return ArgumentMaker(context, tensors, count, error).make(method, values);
}

int borrow_tensor(Context& context, const nnapi_shim_named_tensor& tensor, Value* value, nnapi_shim_error* error) {
  const auto dtype = static_cast<ScalarType>(tensor.dtype);
  const bool is_known = tensor.dtype >= 0 && (dtype <= ScalarType::kFloat64 || dtype == ScalarType::kBool);
  if (!is_known) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %.150s: dtype %d found, 0 to 7 or 11 are possible",
                tensor.path, tensor.dtype);
  }
  if (tensor.rank > program::kMostAxes || (tensor.rank > 0 && tensor.sizes == nullptr)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %.150s: rank %u found, with%s sizes; at most %u is possible",
                tensor.path, tensor.rank, tensor.sizes != nullptr ? "" : "out", program::kMostAxes);
  }
  uint64_t bytes = program::element_bytes(dtype);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    const bool fits =
        tensor.sizes[i] >= 0 && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(tensor.sizes[i]), &bytes);
    if (fits) continue;
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "argument %.150s: size %lld found at axis %u, one of 0 or more that fits into memory needed",
                tensor.path, static_cast<long long>(tensor.sizes[i]), i);
  }
  if (bytes != tensor.bytes || (tensor.data == nullptr && bytes > 0)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %.150s: %zu bytes%s found, %llu needed for its sizes",
                tensor.path, tensor.bytes, tensor.data != nullptr ? "" : " at a null pointer",
                static_cast<unsigned long long>(bytes));
  }
  static const uint64_t kNothing = 0;
  const void* data = tensor.data != nullptr ? tensor.data : &kNothing;
  Tensor* made = program::make_borrowed(context.pool, dtype, tensor.rank, tensor.sizes, data, tensor.bytes);
  if (made == nullptr) return fail(error, NNAPI_SHIM_FAILED, "memory is short for argument %.150s", tensor.path);
  *value = Value(made);
  return NNAPI_SHIM_OK;
}

}  // namespace nnapi_shim
