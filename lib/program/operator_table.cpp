// Finds operators by name.
#include <cstring>

#include "lib/program/operators.h"

namespace nnapi_shim::program {
namespace {

constexpr const OperatorTable* kTables[] = {
#define PROGRAM_OPERATOR_TABLE(name) &name,
#include "lib/program/tables.inc"
#undef PROGRAM_OPERATOR_TABLE
};

// Returns whether the name is that of the row, with one of its overloads.
bool is_of(const char* row, const char* name, size_t length) {
  const char* dot = static_cast<const char*>(std::memchr(name, '.', length));
  const auto base = static_cast<size_t>((dot != nullptr ? dot : name + length) - name);
  if (std::strncmp(row, name, base) != 0) return false;
  row += base;
  if (*row == '\0') return dot == nullptr;
  if (*row != '.') return false;
  const char* overload = dot != nullptr ? dot + 1 : name + length;
  const auto overload_length = static_cast<size_t>(name + length - overload);
  if (dot != nullptr && overload_length == 0) return false;
  do {
    ++row;
    const size_t part = std::strcspn(row, ",");
    if (part == overload_length && std::memcmp(row, overload, part) == 0) return true;
    row += part;
  } while (*row != '\0');
  return false;
}

}  // namespace

const OperatorRow* find_operator(const char* name, size_t length) {
  for (const OperatorTable* table : kTables) {
    for (size_t i = 0; i < table->count; ++i) {
      if (is_of(table->rows[i].name, name, length)) return &table->rows[i];
    }
  }
  return nullptr;
}

}  // namespace nnapi_shim::program
