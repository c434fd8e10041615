// SPDX-License-Identifier: BSD-3-Clause
// Finds operators by name.
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

bool is_for_files() {
  return kIsForFiles;
}

Operator find_operator(const char* name, size_t length) {
  const std::string_view whole(name, length), wanted = name_in_table(whole);
  const bool is_usual = wanted.size() < whole.size(), has_namespace = wanted.find("::") != wanted.npos;
  if (is_usual == has_namespace || wanted.empty()) return {};
  const NameParts parts = parts_of_name(wanted);
  const char first = wanted.front();
  Operator result;
  visit_rows([&](const Operator& row, std::string_view row_name) {
    if (row_name.front() != first || !is_of_row(row_name, parts)) return false;
    result = row;
    return true;
  });
  return result;
}

}  // namespace nnapi_shim::program
