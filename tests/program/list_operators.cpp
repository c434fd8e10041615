// SPDX-License-Identifier: BSD-3-Clause
// list_operators [FILE]: writes the names of all operators that programs may call, one in a line, in their order; with
// FILE, compares that file with them. Exit codes: 0, 1 the file is another, 2 usage.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "lib/program/operator_table.h"

namespace {

namespace program = nnapi_shim::program;

// A row may stand for several overloads: "aten::add.,int" is aten::add and aten::add.int.
void add_names(const std::string& row, std::vector<std::string>& names) {
  const size_t dot = row.find('.');
  const std::string base = row.substr(0, dot);
  if (dot == std::string::npos) return names.push_back(base);
  std::istringstream overloads(row.substr(dot + 1) + ",");
  for (std::string overload; std::getline(overloads, overload, ',');)
    names.push_back(overload.empty() ? base : base + "." + overload);
}

std::string list() {
  std::vector<std::string> names;
  program::visit_rows([&](const program::Operator&, std::string_view name) {
    const bool is_usual = name.find("::") == name.npos;
    add_names(std::string(is_usual ? program::kUsualNamespace : std::string_view()).append(name), names);
    return false;
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: list_operators [FILE]\n";
    return 2;
  }
  if (argc == 1) {
    std::cout << list();
    return 0;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(file)), {});
  if (found == list()) return 0;
  std::cerr << argv[1] << " is stale: list_operators >" << argv[1] << "\n";
  return 1;
}
