// SPDX-License-Identifier: BSD-3-Clause
// Makes the table of a file's rows, and reads the tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "lib/program/operators.h"

namespace nnapi_shim::program {

// The namespace that names in tables leave out.
constexpr std::string_view kUsualNamespace = "aten::";

constexpr std::string_view name_in_table(std::string_view name) {
  return name.substr(0, kUsualNamespace.size()) == kUsualNamespace ? name.substr(kUsualNamespace.size()) : name;
}

// An operator's name, in the form of name_in_table(), in its parts: "add" and "Tensor" of add.Tensor.
struct NameParts {
  std::string_view base, overload;
  bool has_overload;
};

constexpr NameParts parts_of_name(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return {name, {}, false};
  return {name.substr(0, dot), name.substr(dot + 1), true};
}

// Returns whether the name is the row's name with one of its overloads.
constexpr bool is_of_row(std::string_view row, const NameParts& name) {
  const size_t base = name.base.size();
  if (row.size() < base || row.substr(0, base) != name.base) return false;  // nearly all rows
  if (row.size() == base) return !name.has_overload;
  if (row[base] != '.' || (name.has_overload && name.overload.empty())) return false;
  for (row.remove_prefix(base + 1);;) {
    const size_t comma = row.find(',');
    if (row.substr(0, comma) == name.overload) return true;
    if (comma == row.npos) return false;
    row.remove_prefix(comma + 1);
  }
}

// The operators of a build for certain files (nnapi-convert shim --for): those that the files' programs call. Other
// builds have all operators.
constexpr std::string_view kSelectedOperators[] = {
#define PROGRAM_SELECTED_OPERATOR(name) name,
#include "lib/program/selected_operators.inc"
#undef PROGRAM_SELECTED_OPERATOR
    "none"};
#ifdef PROGRAM_SELECTS_OPERATORS
constexpr bool kIsForFiles = true;
#else
constexpr bool kIsForFiles = false;
#endif

constexpr bool is_selected(std::string_view row) {
  if (!kIsForFiles) return true;
  constexpr size_t kBehind = kUsualNamespace.size();
  for (const std::string_view name : kSelectedOperators) {
    if (row.size() > kBehind && name.size() > kBehind && row[kBehind] != name[kBehind]) continue;  // nearly all rows
    if (is_of_row(name_in_table(row), parts_of_name(name_in_table(name)))) return true;
  }
  return false;
}

template <const auto& kRows>
constexpr size_t count_selected() {
  size_t result = 0;
  for (const OperatorRow& row : kRows) result += is_selected(row.name) ? 1 : 0;
  return result;
}

template <const auto& kRows>
constexpr std::array<size_t, count_selected<kRows>()> select_rows() {
  std::array<size_t, count_selected<kRows>()> result{};
  size_t at = 0;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (is_selected(kRows[i].name)) result[at++] = i;
  }
  return result;
}

// The numbers of the selected rows, which the table has.
template <const auto& kRows>
constexpr auto kSelectedRows = select_rows<kRows>();

template <const auto& kRows>
constexpr size_t bytes_of_rows() {
  size_t result = 0;
  for (const size_t number : kSelectedRows<kRows>) result += 3 + name_in_table(kRows[number].name).size();
  return result;
}

template <const auto& kRows>
constexpr bool are_lengths_bytes() {
  for (const OperatorRow& row : kRows) {
    if (name_in_table(row.name).size() > UINT8_MAX) return false;
  }
  return true;
}

template <const auto& kRows>
constexpr std::array<char, bytes_of_rows<kRows>()> pack_rows() {
  static_assert(are_lengths_bytes<kRows>());
  std::array<char, bytes_of_rows<kRows>()> result{};
  size_t at = 0;
  for (const size_t number : kSelectedRows<kRows>) {
    const OperatorRow& row = kRows[number];
    result[at++] = static_cast<char>(row.inputs);
    result[at++] = static_cast<char>(row.outputs);
    const std::string_view name = name_in_table(row.name);
    result[at++] = static_cast<char>(name.size());
    for (const char letter : name) result[at++] = letter;
  }
  return result;
}

template <const auto& kRows>
constexpr auto kPackedRows = pack_rows<kRows>();

template <const auto& kRows, size_t kNumber>
constexpr auto kRun = kRows[kSelectedRows<kRows>[kNumber]].run;

// Runs a selected row's function by a switch.
template <const auto& kRows, size_t... kNumbers>
bool run_row(uint32_t number, Call& call, std::index_sequence<kNumbers...>) {
  bool is_good = false;
  static_cast<void>(((number == kNumbers && (is_good = kRun<kRows, kNumbers>(call), true)) || ...));
  return is_good;
}

template <const auto& kRows>
constexpr OperatorTable operator_table() {
  constexpr size_t kCount = count_selected<kRows>();
  return {kPackedRows<kRows>.data(), kCount,
          [](uint32_t number, Call& call) { return run_row<kRows>(number, call, std::make_index_sequence<kCount>()); }};
}

// Calls visit(operator, name) for each row of each table, until it returns true. `name`: as in the table.
template <typename Visit>
void visit_rows(const Visit& visit) {
  constexpr const OperatorTable* kTables[] = {
#define PROGRAM_OPERATOR_TABLE(name) &name,
#include "lib/program/tables.inc"
#undef PROGRAM_OPERATOR_TABLE
  };
  for (const OperatorTable* table : kTables) {
    const char* at = table->rows;
    for (uint32_t row = 0; row < table->count; ++row) {
      const std::string_view name(at + 3, static_cast<uint8_t>(at[2]));
      if (visit(Operator{table, row, static_cast<uint8_t>(at[0]), static_cast<uint8_t>(at[1])}, name)) return;
      at = name.data() + name.size();
    }
  }
}

}  // namespace nnapi_shim::program
