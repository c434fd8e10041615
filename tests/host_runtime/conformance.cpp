// SPDX-License-Identifier: BSD-3-Clause
// Runs Android's NNAPI test cases through the host library's C interface. NNAPI_VECTORS names their archive or folder.
//
//     host_conformance [--jobs N] [--table FILE] [--check-table FILE] [TEXT...]
//
// runs the cases whose names contain one of the texts (all without one) in N threads, 2 without the option, and writes
// a table of the results as Markdown, or fails where the file has another one. Each case runs in several ways and
// variations, and is built at the lowest feature level that has to take it and at the one below, which has to refuse
// it.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/format/operation_table.h"
#include "tests/host_runtime/case_model.h"
#include "tests/host_runtime/case_run.h"
#include "tests/host_runtime/conformance_report.h"
#include "tests/host_runtime/level_lock.h"
#include "tests/host_runtime/stderr_capture.h"
#include "tests/host_runtime/vectors.h"

namespace {

using conformance::CaseModel;
using conformance::LevelLock;
using conformance::Outcome;
using conformance::Refused;
using conformance::Way;
using vectors::Case;
using SharedCase = std::shared_ptr<const Case>;

struct Options {
  unsigned jobs = 2;
  std::string table, checked_table;
  std::vector<std::string> texts;
};

// One run of a case; it throws where it fails. `excuse` takes back a failure by the library's sentence.
struct Check {
  std::string name;
  std::function<void()> body;
  std::function<bool(const std::string&)> excuse = [](const std::string&) { return false; };
};

struct FailedCheck {
  Check check;
  std::string error;
};

struct CaseResult {
  Outcome outcome;
  std::vector<FailedCheck> failed;
};

const char* name_of(Way way) {
  switch (way) {
    case Way::kBuffers:
      return "buffers";
    case Way::kMemories:
      return "memories";
    case Way::kBurst:
      return "burst";
    case Way::kReusable:
      return "reusable";
  }
  return "";
}

bool has_optional_arguments(const vectors::Operation& operation) {
  for (const auto& signature : nnapi_convert::find_operation(operation.code)->signatures) {
    for (const auto& argument : signature.inputs) {
      if (argument.optional) return true;
    }
  }
  return false;
}

void build_at(int level, const Case& test) {
  const LevelLock lock(level);
  const CaseModel model(test);
}

void add_level_checks(const SharedCase& test, std::vector<Check>& checks) {
  const int level = test->min_level;
  if (test->expect_failure || level == 0) return;
  Check taken{test->name + " at feature level " + std::to_string(level), [test, level] { build_at(level, *test); }};
  // The data do not count optional arguments that have their default values; the library does, as devices do.
  const auto& operations = test->main.operations;
  const bool optional = std::any_of(operations.begin(), operations.end(), has_optional_arguments);
  taken.excuse = [optional](const std::string& sentence) {
    return optional && sentence.find("needs feature level") != std::string::npos;
  };
  checks.push_back(std::move(taken));
  if (level == 1) return;
  const auto refused = [test, level] {
    try {
      build_at(level - 1, *test);
    } catch (const Refused&) {
      return;
    }
    throw std::runtime_error("taken, a refusal expected");
  };
  checks.push_back({test->name + " at feature level " + std::to_string(level - 1), refused});
}

void add_run(const SharedCase& test, const SharedCase& original, Way way, std::vector<Check>& checks) {
  const auto run = [test, original, way] {
    const LevelLock lock(nnapi_convert::kHighestFeatureLevel);
    run_case(*test, *original, way);
  };
  checks.push_back({test->name + " (" + name_of(way) + ")", run});
}

std::vector<Check> checks_of(const SharedCase& test) {
  std::vector<Check> checks;
  for (const Way way : conformance::kAllWays) add_run(test, test, way, checks);
  std::vector<SharedCase> variations = {test};
  if (test->quant8_coupling) {
    variations.push_back(std::make_shared<Case>(with_signed_codes(*test)));
    add_run(variations[1], variations[1], Way::kBuffers, checks);
  }
  for (const SharedCase& variation : variations) {
    add_level_checks(variation, checks);
    if (!test->dynamic_output_shape) continue;
    add_run(std::make_shared<Case>(with_unknown_outputs(*variation)), variation, Way::kBuffers, checks);
  }
  return checks;
}

// Empty, or what went wrong.
std::string error_of(const Check& check) {
  try {
    check.body();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Runs a failed check again, alone, for what the library says of it.
std::string complaint_of(const FailedCheck& failed) {
  const Check& check = failed.check;
  StderrCapture capture;
  const std::string error = error_of(check);
  const std::string sentence = capture.text();
  if (error.empty()) return check.name + ": " + failed.error + ", but not when run again alone";
  return check.excuse(sentence) ? "" : check.name + ": " + error + "; " + sentence;
}

bool is_wanted(const Case& test, const Options& options) {
  if (options.texts.empty()) return true;
  return std::any_of(options.texts.begin(), options.texts.end(), [&](const std::string& text) {
    return (test.spec + " " + test.name).find(text) != std::string::npos;
  });
}

std::vector<CaseResult> run_file(const std::filesystem::path& path, const Options& options) {
  std::vector<CaseResult> results;
  for (Case& one : vectors::read_cases(path)) {
    if (!is_wanted(one, options)) continue;
    const auto test = std::make_shared<const Case>(std::move(one));
    CaseResult result;
    result.outcome.spec = test->spec;
    result.outcome.name = test->name;
    result.outcome.operations = conformance::operations_of(*test);
    for (const Check& check : checks_of(test)) {
      ++result.outcome.runs;
      const std::string error = error_of(check);
      if (!error.empty()) result.failed.push_back({check, error});
    }
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<std::vector<CaseResult>> run_files(const std::vector<std::filesystem::path>& files,
                                               const Options& options) {
  std::vector<std::vector<CaseResult>> results(files.size());
  std::vector<std::exception_ptr> errors(files.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      try {
        results[i] = run_file(files[i], options);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  StderrCapture ignored;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return results;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool takes_value = argument == "--jobs" || argument == "--table" || argument == "--check-table";
    if (takes_value && i + 1 == argc) throw std::runtime_error(argument + " needs a value");
    if (argument == "--jobs") {
      const int jobs = std::atoi(argv[++i]);
      if (jobs < 1 || jobs > 64) throw std::runtime_error("--jobs: 1 to 64 needed");
      options.jobs = static_cast<unsigned>(jobs);
    } else if (argument == "--table") {
      options.table = argv[++i];
    } else if (argument == "--check-table") {
      options.checked_table = argv[++i];
    } else if (argument.rfind("--", 0) == 0) {
      throw std::runtime_error("unknown option " + argument);
    } else {
      options.texts.push_back(argument);
    }
  }
  return options;
}

void write_table(const std::string& path, const std::string& text) {
  std::ofstream table(path);
  table << text;
  table.close();
  if (!table) throw std::runtime_error(path + ": cannot be written");
}

void check_table(const std::string& path, const std::string& text) {
  std::ifstream table(path);
  const std::string found((std::istreambuf_iterator<char>(table)), std::istreambuf_iterator<char>());
  if (found != text) throw std::runtime_error(path + " is stale: write it with --table");
}

bool run_all(const std::string& path, const Options& options) {
  const vectors::Collection collection(path);
  conformance::Report report;
  for (std::vector<CaseResult>& results : run_files(collection.files(), options)) {
    for (CaseResult& result : results) {
      for (const FailedCheck& failed : result.failed) {
        const std::string complaint = complaint_of(failed);
        if (!complaint.empty()) result.outcome.complaints.push_back(complaint);
      }
      report.add(result.outcome);
    }
  }
  if (options.texts.empty()) report.add_left_out(collection.left_out());
  std::fputs(report.text().c_str(), stdout);
  if (!options.table.empty()) write_table(options.table, report.markdown());
  if (!options.checked_table.empty()) check_table(options.checked_table, report.markdown());
  return report.good();
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv("NNAPI_VECTORS");
  if (!path || !*path) {
    std::printf("skipped: NNAPI_VECTORS is not set\n");
    return 0;
  }
  try {
    return run_all(path, parse(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "host_conformance: %s\n", error.what());
    return 1;
  }
}
