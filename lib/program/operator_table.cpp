// SPDX-License-Identifier: BSD-3-Clause
// Finds operators by name.
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {
namespace {

// Returns whether the name is that of the row, with one of its overloads.
bool is_of(std::string_view row, std::string_view name) {
  if (row.front() != name.front()) return false;  // nearly all of them
  const size_t dot = name.find('.'), row_dot = row.find('.');
  if (name.substr(0, dot) != row.substr(0, row_dot)) return false;
  if (row_dot == row.npos) return dot == name.npos;
  const std::string_view overload = dot == name.npos ? std::string_view() : name.substr(dot + 1);
  if (dot != name.npos && overload.empty()) return false;
  for (row.remove_prefix(row_dot + 1);;) {
    const size_t comma = row.find(',');
    if (row.substr(0, comma) == overload) return true;
    if (comma == row.npos) return false;
    row.remove_prefix(comma + 1);
  }
}

}  // namespace

Operator find_operator(const char* name, size_t length) {
  const std::string_view whole(name, length), wanted = name_in_table(whole);
  const bool is_usual = wanted.size() < whole.size(), has_namespace = wanted.find("::") != wanted.npos;
  if (is_usual == has_namespace || wanted.empty()) return {};
  Operator result;
  visit_rows([&](const Operator& row, std::string_view row_name) {
    if (!is_of(row_name, wanted)) return false;
    result = row;
    return true;
  });
  return result;
}

}  // namespace nnapi_shim::program
