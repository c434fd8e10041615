// SPDX-License-Identifier: BSD-3-Clause
// op_cases: runs the cases of files or folders. Exit codes: 0 all pass, 1 some fail, 2 usage.
#include <ATen/Context.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>

#include "lib/converter/graph/quantised_engine.h"
#include "lib/converter/graph/release.h"
#include "lib/converter/verify/verify.h"
#include "tests/ops/case_checks.h"
#include "tests/ops/case_module.h"
#include "tests/ops/coverage.h"
#include "tests/ops/litert_case.h"
#include "tests/ops/program_case.h"
#include "tests/ops/torchvision_kernels.h"

namespace {

namespace fs = std::filesystem;
using namespace nnapi_convert;

constexpr const char* kUsage =
    "usage: op_cases [--rebase | --no-golden | --coverage | --program] [--only NAME] [--litert FOLDER] [--every N]\n"
    "                FILE-OR-FOLDER...\n"
    "Runs the cases in *.case files.\n"
    "  --rebase     write the golden sections anew\n"
    "  --no-golden  leave the golden sections out of account\n"
    "  --coverage   don't run; tell which rules have no case, or none at the feature level they claim\n"
    "  --program    don't convert; run the models as programs of the shim, where these have all operators\n"
    "  --only NAME  cases whose name contains NAME\n"
    "  --litert FOLDER  don't check; write each case for LiteRT, and jobs.jsonl, which tells of them\n"
    "  --every N    with --litert: the first of N cases\n";

struct Arguments {
  Golden golden = Golden::kCompare;
  bool coverage = false, program = false;
  std::string only;
  fs::path litert;
  size_t every = 1;
  std::vector<fs::path> paths;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--rebase") {
      arguments.golden = Golden::kRebase;
    } else if (word == "--no-golden") {
      arguments.golden = Golden::kIgnore;
    } else if (word == "--coverage") {
      arguments.coverage = true;
    } else if (word == "--program") {
      arguments.program = true;
    } else if (word == "--only" && i + 1 < argc) {
      arguments.only = argv[++i];
    } else if (word == "--litert" && i + 1 < argc) {
      arguments.litert = argv[++i];
    } else if (word == "--every" && i + 1 < argc) {
      arguments.every = std::stoul(argv[++i]);
    } else if (word.compare(0, 1, "-") != 0 && fs::exists(word)) {
      arguments.paths.emplace_back(word);
    } else {
      throw std::invalid_argument(word);
    }
  }
  if (arguments.paths.empty()) throw std::invalid_argument("no files");
  return arguments;
}

std::vector<fs::path> case_files(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".case") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Tally {
  int cases = 0, failed = 0, without_engine = 0, of_1_13 = 0;
};

void run_file(const fs::path& file, const Arguments& arguments, Tally& tally) {
  std::vector<OpCase> cases = read_cases(file.string());
  for (OpCase& one : cases) {
    if (one.name.find(arguments.only) == std::string::npos) continue;
    ++tally.cases;
    if (one.is_of_1_13 && !kIsAndroidsRelease) {
      ++tally.of_1_13;
      continue;
    }
    if (!has_engine(one)) {
      ++tally.without_engine;
      continue;
    }
    const std::vector<std::string> problems = check_case(one, arguments.golden);
    if (problems.empty()) continue;
    ++tally.failed;
    std::cout << fmt::format("FAILED {} {}\n", file.string(), one.name);
    for (const std::string& problem : problems) std::cout << "  " << problem << "\n";
  }
  if (arguments.golden == Golden::kRebase) write_cases(file.string(), cases);
}

int run(const Arguments& arguments) {
  const std::vector<fs::path> files = case_files(arguments.paths);
  Tally tally;
  for (const fs::path& file : files) run_file(file, arguments, tally);
  std::cout << fmt::format("{} cases in {} files, {} failed\n", tally.cases, files.size(), tally.failed);
  if (tally.without_engine != 0) {
    std::cout << fmt::format("  not run: {} cases whose weights are packed by an engine that this LibTorch lacks\n",
                             tally.without_engine);
  }
  if (tally.of_1_13 != 0) {
    std::cout << fmt::format("  not run: {} cases of operators that LibTorch changed after 1.13\n", tally.of_1_13);
  }
  return tally.cases == 0 || tally.failed != 0 ? 1 : 0;
}

int write_for_litert(const Arguments& arguments) {
  fs::create_directories(arguments.litert);
  std::ofstream jobs(arguments.litert / "jobs.jsonl");
  size_t number = 0;
  for (const fs::path& file : case_files(arguments.paths)) {
    for (OpCase& one : read_cases(file.string())) {
      if (one.name.find(arguments.only) == std::string::npos || number++ % arguments.every != 0) continue;
      if ((one.is_of_1_13 && !kIsAndroidsRelease) || !has_engine(one)) continue;
      const std::string line = write_litert_case(one, arguments.litert, std::to_string(number));
      if (!line.empty()) jobs << line << "\n";
    }
  }
  return jobs.good() ? 0 : 1;
}

// Writes which cases differ, and how many need which operators that programs lack.
int run_programs(const Arguments& arguments) {
  size_t cases = 0, failed = 0, lacking = 0;
  std::map<std::string, size_t> missing;
  for (const fs::path& file : case_files(arguments.paths)) {
    for (OpCase& one : read_cases(file.string())) {
      if (one.name.find(arguments.only) == std::string::npos) continue;
      if ((one.is_of_1_13 && !kIsAndroidsRelease) || !has_engine(one)) continue;
      ++cases;
      const ProgramOutcome outcome = check_program(one);
      if (!outcome.missing.empty()) ++lacking, ++missing[outcome.missing.substr(0, outcome.missing.find('\n'))];
      if (outcome.problems.empty()) continue;
      ++failed;
      std::cout << fmt::format("FAILED {} {}: {}\n", file.string(), one.name, outcome.problems[0]) << std::flush;
    }
  }
  for (const auto& [operators, count] : missing) std::cout << fmt::format("{:5}  {}\n", count, operators);
  std::cout << fmt::format("{} cases: {} agree, {} differ, {} have operators that programs lack\n", cases,
                           cases - failed - lacking, failed, lacking);
  return cases == 0 || failed != 0 ? 1 : 0;
}

int report_coverage(const Arguments& arguments) {
  RuleCoverage coverage;
  for (const fs::path& file : case_files(arguments.paths)) {
    for (const OpCase& one : read_cases(file.string())) coverage.add(one);
  }
  const std::vector<std::string> problems = coverage.problems();
  for (const std::string& problem : problems) std::cout << problem << "\n";
  return problems.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  try {
    arguments = parse(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << "op_cases: " << error.what() << "\n" << kUsage;
    return 2;
  }
  try {
    choose_quantised_engine();
    torch::jit::setGraphExecutorOptimize(false);  // each module runs a few times only
    register_torchvision_kernels();
    // PyTorch's loader asks for the library by name and is given this one.
    if (dlopen(host_library_path().c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) throw std::runtime_error(dlerror());
    if (!arguments.litert.empty()) return write_for_litert(arguments);
    if (arguments.program) return run_programs(arguments);
    return arguments.coverage ? report_coverage(arguments) : run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "op_cases: " << error.what() << "\n";
    return 1;
  }
}
