// SPDX-License-Identifier: BSD-3-Clause
// random_cases [--count N] [--seed S] [-v]: converts random models and compares them with TorchScript. A case that
// fails is printed as a case file. Exit codes: 0 none failed, 1 some failed, 2 usage.
#include <ATen/Context.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iostream>
#include <map>
#include <regex>

#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/verify/verify.h"
#include "tests/ops/case_checks.h"
#include "tests/ops/random_case.h"

namespace {

using namespace nnapi_convert;

struct SweepArguments {
  uint64_t count = 2000;
  uint64_t seed = 1;
  bool is_verbose = false;
};

bool read_number(const char* text, uint64_t& number) {
  const char* end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end;
}

bool parse(int argc, char** argv, SweepArguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-v") {
      arguments.is_verbose = true;
    } else if ((word != "--count" && word != "--seed") || i + 1 == argc ||
               !read_number(argv[++i], word == "--count" ? arguments.count : arguments.seed)) {
      return false;
    }
  }
  return true;
}

// A refusal without its numbers, to count equal ones.
std::string kind_of(const std::string& refusal) {
  const size_t line = refusal.find('\n');
  const std::string reason =
      line == std::string::npos ? refusal : refusal.substr(line + 1, refusal.find('\n', line + 1) - line);
  return std::regex_replace(reason, std::regex("[0-9]+"), "#");
}

void print_case(const OpCase& failed) {
  for (const std::string& line : failed.lines) std::cout << line << "\n";
  std::cout << "\n";
}

int run_sweep(const SweepArguments& arguments) {
  std::map<std::string, int> refusals;
  uint64_t failed = 0, refused = 0;
  for (uint64_t seed = arguments.seed; seed < arguments.seed + arguments.count; ++seed) {
    OpCase op_case = random_case(seed);
    const FreeResult result = check_free_case(op_case);
    if (!result.refusal.empty()) {
      ++refused;
      ++refusals[kind_of(result.refusal)];
      if (arguments.is_verbose) {
        std::cout << "# refused: " << kind_of(result.refusal) << "\n";
        print_case(op_case);
      }
    }
    if (result.problems.empty()) continue;
    ++failed;
    for (const std::string& problem : result.problems)
      std::cout << "# " << problem.substr(0, problem.find("\nframe #")) << "\n";
    print_case(op_case);
  }
  std::vector<std::pair<int, std::string>> counts;
  for (const auto& [kind, count] : refusals) counts.emplace_back(count, kind);
  std::sort(counts.rbegin(), counts.rend());
  for (const auto& [count, kind] : counts) std::cout << fmt::format("refused {:5}  {}\n", count, kind);
  std::cout << fmt::format("{} random cases from seed {}, {} refused, {} failed\n", arguments.count, arguments.seed,
                           refused, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  SweepArguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::cerr << "usage: random_cases [--count N] [--seed S] [-v]\n";
    return 2;
  }
  try {
    choose_quantised_engine();
    torch::jit::setGraphExecutorOptimize(false);  // each module runs a few times only
    if (dlopen(host_library_path().c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) throw std::runtime_error(dlerror());
    return run_sweep(arguments);
  } catch (const std::exception& error) {
    std::cerr << "random_cases: " << error.what() << "\n";
    return 1;
  }
}
