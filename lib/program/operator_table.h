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

// What names of tables leave out.
constexpr std::string_view kUsualNamespace = "aten::";

constexpr std::string_view name_in_table(std::string_view name) {
  return name.substr(0, kUsualNamespace.size()) == kUsualNamespace ? name.substr(kUsualNamespace.size()) : name;
}

template <const auto& kRows>
constexpr size_t bytes_of_rows() {
  size_t result = 0;
  for (const OperatorRow& row : kRows) result += 3 + name_in_table(row.name).size();
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
  for (const OperatorRow& row : kRows) {
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

// A switch over the rows' functions.
template <const auto& kRows, size_t... kNumbers>
bool run_row(uint32_t number, Call& call, std::index_sequence<kNumbers...>) {
  bool is_good = false;
  static_cast<void>(((number == kNumbers && (is_good = kRows[kNumbers].run(call), true)) || ...));
  return is_good;
}

template <const auto& kRows>
constexpr OperatorTable operator_table() {
  return {kPackedRows<kRows>.data(), std::size(kRows), [](uint32_t number, Call& call) {
            return run_row<kRows>(number, call, std::make_index_sequence<std::size(kRows)>());
          }};
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
