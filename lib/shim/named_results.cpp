// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/named_results.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/shim/failure.h"
#include "lib/shim/named_arguments.h"

using nnapi_shim::fail;
using nnapi_shim::PathStep;
using nnapi_shim::read_step;
using nnapi_shim::program::ScalarType;
using nnapi_shim::program::Sequence;
using nnapi_shim::program::Tag;
using nnapi_shim::program::Tensor;
using Kind = nnapi_shim::program::Type::Kind;

namespace {

constexpr size_t kMostEntries = 1 << 16;
constexpr size_t kAlignment = 64;

bool is_letter(char sign) {
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') || sign == '_';
}

// Returns whether a key can stand behind a dot.
bool is_name(const char* text, size_t length) {
  return length > 0 && is_letter(text[0]) &&
         std::all_of(text, text + length, [](char sign) { return is_letter(sign) || (sign >= '0' && sign <= '9'); });
}

void add_text(std::vector<char>* to, const char* text) {
  to->insert(to->end(), text, text + std::strlen(text));
}

void add_name(std::vector<char>* path, const char* text, size_t length) {
  if (is_name(text, length)) {
    if (!path->empty()) path->push_back('.');
    path->insert(path->end(), text, text + length);
    return;
  }
  add_text(path, "[\"");
  for (size_t i = 0; i < length; ++i) {
    if (text[i] == '"' || text[i] == '\\') path->push_back('\\');
    path->push_back(text[i]);
  }
  add_text(path, "\"]");
}

void add_key(std::vector<char>* path, const nnapi_shim::program::Value& key) {
  if (key.tag() == Tag::kString) return add_name(path, key.string().text(), key.string().length);
  char text[48];
  if (key.tag() == Tag::kFloat) {
    std::snprintf(text, sizeof text, "[%.17g]", key.as_float());
  } else if (key.tag() == Tag::kBool) {
    std::snprintf(text, sizeof text, "[%s]", key.as_bool() ? "True" : "False");
  } else {
    std::snprintf(text, sizeof text, "[%lld]", static_cast<long long>(key.as_int()));
  }
  add_text(path, text);
}

// Returns whether two steps are equal; one of them may be in quotation marks.
bool is_same_step(const PathStep& a, const PathStep& b) {
  size_t i = 0, k = 0;
  while (i < a.length && k < b.length) {
    if (a.is_quoted && a.text[i] == '\\' && i + 1 < a.length) ++i;
    if (b.is_quoted && b.text[k] == '\\' && k + 1 < b.length) ++k;
    if (a.text[i++] != b.text[k++]) return false;
  }
  return i == a.length && k == b.length;
}

bool is_same_path(const char* a, const char* b) {
  const char *const first = a, *const second = b;
  PathStep left{}, right{};
  while (*a != '\0' && *b != '\0') {
    if (!read_step(&a, a == first, &left) || !read_step(&b, b == second, &right)) return false;
    if (!is_same_step(left, right)) return false;
  }
  return *a == *b;
}

}  // namespace

nnapi_shim_result::~nnapi_shim_result() {
  std::free(memory_);
}

void nnapi_shim_result::clear() {
  entries_.clear();
  text_.clear();
  path_.clear();
}

int nnapi_shim_result::keep(const Value& value, const Type* type, nnapi_shim_error* error) {
  clear();
  int status = list(value, type, 0, error);
  size_t needed = 0;
  for (Entry& entry : entries_) {
    entry.begin = needed;
    if (entry.bytes > PTRDIFF_MAX - needed - kAlignment) needed = PTRDIFF_MAX - kAlignment;
    needed += (entry.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (status == NNAPI_SHIM_OK && needed > capacity_) {
    std::free(memory_);
    memory_ = nullptr;
    capacity_ = 0;
    void* memory = nullptr;
    if (needed < PTRDIFF_MAX - kAlignment && ::posix_memalign(&memory, kAlignment, needed) == 0) {
      memory_ = static_cast<uint8_t*>(memory);
      capacity_ = needed;
    } else {
      status = fail(error, NNAPI_SHIM_FAILED, "memory is short for the results");
    }
  }
  if (status != NNAPI_SHIM_OK) {
    clear();
    return status;
  }
  for (const Entry& entry : entries_) copy(entry);
  return status;
}

int nnapi_shim_result::list(const Value& value, const Type* type, uint32_t depth, nnapi_shim_error* error) {
  if (depth > nnapi_convert::program_format::kMostDepth || entries_.size() > kMostEntries) {
    return fail(error, NNAPI_SHIM_FAILED, "the result has more than %zu tensors, or is nested deeper than %u",
                kMostEntries, nnapi_convert::program_format::kMostDepth);
  }
  while (type != nullptr && type->kind == Kind::kOptional) type = &type->parts[0];
  switch (value.tag()) {
    case Tag::kNone:
    case Tag::kDevice:
    case Tag::kObject:
      return NNAPI_SHIM_OK;
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kDict:
      return list_parts(value, type, depth, error);
    default:
      return add(value, error);
  }
}

int nnapi_shim_result::list_parts(const Value& value, const Type* type, uint32_t depth, nnapi_shim_error* error) {
  const Sequence& parts = value.sequence();
  const bool is_dict = value.tag() == Tag::kDict;
  const size_t length = path_.size();
  for (uint32_t i = 0; i < parts.count; i += is_dict ? 2 : 1) {
    const Type* part = nullptr;
    if (is_dict) {
      add_key(&path_, parts.values[i]);
      if (type != nullptr && type->kind == Kind::kDict) part = &type->parts[1];
    } else if (type != nullptr && type->kind == Kind::kTuple && i < type->names.size()) {
      add_name(&path_, type->names[i].data(), type->names[i].size());
      part = &type->parts[i];
    } else {
      add_key(&path_, Value(int64_t{i}));
      if (type != nullptr && type->kind == Kind::kTuple && i < type->parts.size()) part = &type->parts[i];
      if (type != nullptr && type->kind == Kind::kList) part = &type->parts[0];
    }
    const uint32_t number = is_dict ? i + 1 : i;
    if (number >= parts.count) break;
    if (const int status = list(parts.values[number], part, depth + 1, error)) return status;
    path_.resize(length);
  }
  return NNAPI_SHIM_OK;
}

int nnapi_shim_result::add(const Value& value, nnapi_shim_error* error) {
  if (path_.size() > 4096 || text_.size() > (size_t{1} << 24)) {
    return fail(error, NNAPI_SHIM_FAILED, "the paths of the results are too long");
  }
  Entry entry{};
  entry.path = text_.size();
  entry.value = &value;
  text_.insert(text_.end(), path_.begin(), path_.end());
  text_.push_back('\0');
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    entry.dtype = static_cast<int32_t>(tensor.dtype);
    entry.rank = tensor.rank;
    std::copy(tensor.sizes, tensor.sizes + tensor.rank, entry.sizes);
    // Elements that share memory may be more than memory holds.
    const bool is_empty = tensor.numel() == 0;
    entry.bytes = is_empty ? 0 : nnapi_shim::program::element_bytes(tensor.dtype);
    for (uint32_t i = 0; i < tensor.rank && !is_empty; ++i) {
      if (__builtin_mul_overflow(entry.bytes, static_cast<size_t>(tensor.sizes[i]), &entry.bytes)) {
        return fail(error, NNAPI_SHIM_FAILED, "a result is larger than memory");
      }
    }
  } else if (value.tag() == Tag::kString) {
    entry.dtype = static_cast<int32_t>(ScalarType::kUInt8);
    entry.rank = 1;
    entry.sizes[0] = value.string().length;
    entry.bytes = value.string().length;
  } else {
    const bool is_bool = value.tag() == Tag::kBool;
    entry.dtype = static_cast<int32_t>(is_bool                    ? ScalarType::kBool
                                       : value.tag() == Tag::kInt ? ScalarType::kInt64
                                                                  : ScalarType::kFloat64);
    entry.bytes = is_bool ? 1 : 8;
  }
  entries_.push_back(entry);
  return NNAPI_SHIM_OK;
}

void nnapi_shim_result::copy(const Entry& entry) const {
  uint8_t* const to = memory_ + entry.begin;
  const Value& value = *entry.value;
  if (entry.bytes == 0) return;
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    if (tensor.is_contiguous()) {
      std::memcpy(to, tensor.bytes(), entry.bytes);
      return;
    }
    nnapi_shim::program::Storage storage = {nullptr, 1, true, to, entry.bytes};
    Tensor whole = tensor;
    whole.storage = &storage;
    whole.offset = 0;
    int64_t stride = 1;
    for (uint32_t i = tensor.rank; i-- > 0;) {
      whole.strides[i] = stride;
      stride *= tensor.sizes[i];
    }
    nnapi_shim::program::copy_elements(tensor, whole);
    return;
  }
  if (value.tag() == Tag::kString) {
    std::memcpy(to, value.string().text(), entry.bytes);
    return;
  }
  const int64_t number = value.as_int();
  const double real = value.as_float();
  if (value.tag() == Tag::kBool) {
    *to = value.as_bool() ? 1 : 0;
  } else if (value.tag() == Tag::kInt) {
    std::memcpy(to, &number, sizeof number);
  } else {
    std::memcpy(to, &real, sizeof real);
  }
}

void nnapi_shim_result::get(uint32_t number, nnapi_shim_named_tensor* tensor) const {
  const Entry& entry = entries_[number];
  *tensor = {text_.data() + entry.path, entry.dtype, entry.rank, entry.sizes, memory_ + entry.begin, entry.bytes};
}

bool nnapi_shim_result::find(const char* path, uint32_t* number) const {
  for (*number = 0; *number < entries_.size(); ++*number) {
    if (is_same_path(text_.data() + entries_[*number].path, path)) return true;
  }
  return false;
}
