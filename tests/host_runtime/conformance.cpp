// Runs Android's NNAPI test cases through the host library's C interface: every case whose operations are all offered.
// NNAPI_VECTORS names their archive or folder. Arguments, if any, are texts that the names of the cases have to
// contain.
//
// Each case also runs with the outputs' extents undeclared and with signed codes, where its data say so, and is built
// at the lowest feature level that has to take it and at the one below, which has to refuse it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/neural_networks.h"
#include "tests/host_runtime/stderr_capture.h"
#include "tests/host_runtime/vectors.h"

namespace {

using nnapi_convert::OperandCode;
using nnapi_convert::OperationCode;
using vectors::Case;

constexpr int kHighestLevel = nnapi_convert::kHighestFeatureLevel;

struct ModelDeleter {
  void operator()(ANeuralNetworksModel* model) const { ANeuralNetworksModel_free(model); }
};
struct CompilationDeleter {
  void operator()(ANeuralNetworksCompilation* compilation) const { ANeuralNetworksCompilation_free(compilation); }
};
struct ExecutionDeleter {
  void operator()(ANeuralNetworksExecution* execution) const { ANeuralNetworksExecution_free(execution); }
};

// A call that the library refused.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(int code, const char* call) {
  if (code != 0) throw Refused(std::string(call) + " returns " + std::to_string(code));
}

void set_feature_level(int level) {
  setenv("NNAPI_HOST_FEATURE_LEVEL", std::to_string(level).c_str(), 1);
}

// A finished model with the bytes of its constants.
struct Built {
  std::vector<std::vector<uint8_t>> constants;
  std::unique_ptr<ANeuralNetworksModel, ModelDeleter> model;
};

void add_operand(Built& built, const vectors::Operand& operand, int32_t index) {
  const ANeuralNetworksOperandType type = {static_cast<int32_t>(operand.type),
                                           static_cast<uint32_t>(operand.dims.size()), operand.dims.data(),
                                           operand.scale, operand.zero_point};
  check(ANeuralNetworksModel_addOperand(built.model.get(), &type), "addOperand");
  if (!operand.channel_scales.empty()) {
    const ANeuralNetworksSymmPerChannelQuantParams params = {
        operand.channel_dim, static_cast<uint32_t>(operand.channel_scales.size()), operand.channel_scales.data()};
    check(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(built.model.get(), index, &params),
          "setOperandSymmPerChannelQuantParams");
  }
  if (operand.lifetime == "NO_VALUE") {
    check(ANeuralNetworksModel_setOperandValue(built.model.get(), index, nullptr, 0), "setOperandValue");
  } else if (operand.lifetime.rfind("CONSTANT", 0) == 0) {
    built.constants.push_back(vectors::to_bytes(operand.type, operand.values));
    check(ANeuralNetworksModel_setOperandValue(built.model.get(), index, built.constants.back().data(),
                                               built.constants.back().size()),
          "setOperandValue");
  }
}

Built build(const Case& test) {
  Built built;
  ANeuralNetworksModel* model = nullptr;
  check(ANeuralNetworksModel_create(&model), "Model_create");
  built.model.reset(model);
  for (std::size_t i = 0; i < test.operands.size(); ++i) add_operand(built, test.operands[i], static_cast<int32_t>(i));
  for (const vectors::Operation& operation : test.operations) {
    check(ANeuralNetworksModel_addOperation(model, static_cast<int32_t>(operation.code),
                                            static_cast<uint32_t>(operation.inputs.size()), operation.inputs.data(),
                                            static_cast<uint32_t>(operation.outputs.size()), operation.outputs.data()),
          "addOperation");
  }
  check(ANeuralNetworksModel_identifyInputsAndOutputs(model, static_cast<uint32_t>(test.inputs.size()),
                                                      test.inputs.data(), static_cast<uint32_t>(test.outputs.size()),
                                                      test.outputs.data()),
        "identifyInputsAndOutputs");
  if (test.relaxed) check(ANeuralNetworksModel_relaxComputationFloat32toFloat16(model, true), "relax");
  check(ANeuralNetworksModel_finish(model), "finish");
  return built;
}

void compare_dims(const Case& original, uint32_t index, std::size_t position, ANeuralNetworksExecution* execution) {
  const std::vector<uint32_t>& expected = original.operands[index].dims;
  if (!vectors::is_tensor(original.operands[index].type) || original.operands[index].ignored) return;
  const bool unknown = std::find(expected.begin(), expected.end(), 0u) != expected.end();
  if (expected.empty() || (unknown && !original.zero_sized)) return;
  uint32_t rank = 0;
  check(ANeuralNetworksExecution_getOutputOperandRank(execution, static_cast<int32_t>(position), &rank), "rank");
  std::vector<uint32_t> found(rank);
  check(ANeuralNetworksExecution_getOutputOperandDimensions(execution, static_cast<int32_t>(position), found.data()),
        "dimensions");
  if (found != expected) throw std::runtime_error("output " + std::to_string(position) + " has other dimensions");
}

void compare_values(const Case& test, uint32_t index, std::size_t position, const std::vector<uint8_t>& bytes) {
  const vectors::Operand& operand = test.operands[index];
  if (operand.ignored || operand.expected.empty()) return;
  const auto tolerance = test.tolerances.count(operand.type) ? test.tolerances.at(operand.type) : vectors::Tolerance();
  const std::vector<double> found = vectors::from_bytes(operand.type, bytes);
  for (std::size_t i = 0; i < operand.expected.size(); ++i) {
    const double expected = vectors::rounded_to(operand.type, operand.expected[i]);
    if (std::abs(found[i] - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected)) continue;
    throw std::runtime_error("output " + std::to_string(position) + "[" + std::to_string(i) + "] is " +
                             std::to_string(found[i]) + ", " + std::to_string(expected) + " expected");
  }
}

// How often each class occurs among the samples, against the probability that softmax gives it.
void compare_frequencies(const Case& test, const std::vector<uint8_t>& bytes) {
  const vectors::Operand& input = test.operands[test.operations[0].inputs[0]];
  const std::size_t classes = input.dims[1], rows = input.dims[0];
  const std::vector<double> samples = vectors::from_bytes(OperandCode::TENSOR_INT32, bytes);
  const std::size_t count = samples.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<double> frequencies(classes);
    for (std::size_t i = 0; i < count; ++i) {
      frequencies.at(static_cast<std::size_t>(samples[row * count + i])) += 1 / static_cast<double>(count);
    }
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += std::exp(input.values[row * classes + i]);
    for (std::size_t i = 0; i < classes; ++i) {
      const double expected = std::exp(input.values[row * classes + i]) / sum;
      if (std::abs(frequencies[i] - expected) <= test.multinomial_tolerance) continue;
      throw std::runtime_error("class " + std::to_string(i) + " has frequency " + std::to_string(frequencies[i]) +
                               ", " + std::to_string(expected) + " expected");
    }
  }
}

// `original` tells the expected dimensions where `test` does not declare them.
void run(const Case& test, const Case& original) {
  const Built built = build(test);
  ANeuralNetworksCompilation* compilation = nullptr;
  check(ANeuralNetworksCompilation_create(built.model.get(), &compilation), "Compilation_create");
  const std::unique_ptr<ANeuralNetworksCompilation, CompilationDeleter> compilation_owner(compilation);
  check(ANeuralNetworksCompilation_finish(compilation), "Compilation_finish");
  ANeuralNetworksExecution* execution = nullptr;
  check(ANeuralNetworksExecution_create(compilation, &execution), "Execution_create");
  const std::unique_ptr<ANeuralNetworksExecution, ExecutionDeleter> execution_owner(execution);
  std::vector<std::vector<uint8_t>> inputs, outputs;
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    const vectors::Operand& operand = test.operands[test.inputs[i]];
    inputs.push_back(vectors::to_bytes(operand.type, operand.values));
    check(
        ANeuralNetworksExecution_setInput(execution, static_cast<int32_t>(i), nullptr,
                                          inputs.back().empty() ? nullptr : inputs.back().data(), inputs.back().size()),
        "setInput");
  }
  for (std::size_t i = 0; i < test.outputs.size(); ++i) {
    const vectors::Operand& operand = original.operands[test.outputs[i]];
    std::size_t elements = 1;
    for (const uint32_t extent : operand.dims) elements *= extent;
    if (!operand.expected.empty()) elements = operand.expected.size();
    outputs.emplace_back(vectors::to_bytes(operand.type, std::vector<double>(elements, 0)));
    check(ANeuralNetworksExecution_setOutput(execution, static_cast<int32_t>(i), nullptr,
                                             outputs.back().empty() ? nullptr : outputs.back().data(),
                                             outputs.back().size()),
          "setOutput");
  }
  check(ANeuralNetworksExecution_compute(execution), "compute");
  for (std::size_t i = 0; i < test.outputs.size(); ++i) {
    compare_dims(original, test.outputs[i], i, execution);
    compare_values(test, test.outputs[i], i, outputs[i]);
    if (test.multinomial_tolerance > 0) compare_frequencies(test, outputs[i]);
  }
}

// What went wrong, or nothing.
std::string complaint_of(const Case& test, const Case& original) {
  set_feature_level(kHighestLevel);
  StderrCapture capture;
  try {
    run(test, original);
  } catch (const Refused& refused) {
    return test.expect_failure ? "" : refused.what() + (": " + capture.text());
  } catch (const std::runtime_error& error) {
    return test.expect_failure ? "" : error.what();
  }
  return test.expect_failure ? "it works, a failure expected" : "";
}

bool builds_at(const Case& test, int level, std::string* sentence) {
  set_feature_level(level);
  StderrCapture capture;
  try {
    build(test);
  } catch (const Refused&) {
    *sentence = capture.text();
    return false;
  }
  return true;
}

bool has_optional_arguments(const vectors::Operation& operation) {
  for (const auto& signature : nnapi_convert::find_operation(operation.code)->signatures) {
    for (const auto& argument : signature.inputs) {
      if (argument.optional) return true;
    }
  }
  return false;
}

std::string level_complaint(const Case& test) {
  if (test.expect_failure || test.min_level == 0) return "";
  std::string sentence;
  if (!builds_at(test, test.min_level, &sentence)) {
    // The data do not count optional arguments that have their default values; the library does, as devices do.
    const bool optional = std::any_of(test.operations.begin(), test.operations.end(), has_optional_arguments);
    if (optional && sentence.find("needs feature level") != std::string::npos) return "";
    return "refused at feature level " + std::to_string(test.min_level) + ": " + sentence;
  }
  if (test.min_level > 1 && builds_at(test, test.min_level - 1, &sentence)) {
    return "taken at feature level " + std::to_string(test.min_level - 1);
  }
  return "";
}

bool is_offered(OperationCode code) {
  static std::map<OperationCode, bool> known;
  const auto found = known.find(code);
  if (found != known.end()) return found->second;
  set_feature_level(kHighestLevel);
  StderrCapture capture;
  ANeuralNetworksModel* model = nullptr;
  check(ANeuralNetworksModel_create(&model), "Model_create");
  const std::unique_ptr<ANeuralNetworksModel, ModelDeleter> owner(model);
  ANeuralNetworksModel_addOperation(model, static_cast<int32_t>(code), 0, nullptr, 0, nullptr);
  return known[code] = capture.text().find("does not offer it") == std::string::npos;
}

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
};

class Report {
 public:
  void skip(const Case& test) {
    ++total_.skipped;
    for (const OperationCode code : operations(test)) ++tallies_[code].skipped;
  }

  void add(const Case& test, const std::string& complaint) {
    int Tally::*counter = complaint.empty() ? &Tally::passed : &Tally::failed;
    ++(total_.*counter);
    for (const OperationCode code : operations(test)) ++(tallies_[code].*counter);
    if (complaint.empty()) return;
    std::printf("FAILED %s %s: %s\n", test.spec.c_str(), test.name.c_str(), complaint.c_str());
  }

  int finish() const {
    std::printf("%-32s %7s %7s %7s\n", "operation", "passed", "failed", "skipped");
    for (const auto& [code, tally] : tallies_) {
      std::printf("%-32s %7d %7d %7d%s\n", nnapi_convert::name_of(code), tally.passed, tally.failed, tally.skipped,
                  is_offered(code) ? "" : "  (not offered)");
    }
    std::printf("conformance: %d runs passed, %d failed, %d cases skipped\n", total_.passed, total_.failed,
                total_.skipped);
    return total_.failed == 0 && total_.passed > 0 ? 0 : 1;
  }

 private:
  static std::set<OperationCode> operations(const Case& test) {
    std::set<OperationCode> codes;
    for (const vectors::Operation& operation : test.operations) codes.insert(operation.code);
    // The filler that passes inputs on does not count.
    if (codes.size() > 1 && test.name.find("internal") != std::string::npos) codes.erase(OperationCode::ADD);
    return codes;
  }

  Tally total_;
  std::map<OperationCode, Tally> tallies_;
};

void run_variations(const Case& test, Report& report) {
  std::vector<Case> variations = {test};
  if (test.quant8_coupling) variations.push_back(vectors::with_signed_codes(test));
  for (const Case& variation : variations) {
    report.add(variation, complaint_of(variation, variation));
    const std::string level = level_complaint(variation);
    if (!level.empty()) report.add(variation, level);
    if (!test.dynamic_output_shape) continue;
    const Case dynamic = vectors::with_unknown_outputs(variation);
    report.add(dynamic, complaint_of(dynamic, variation));
  }
}

bool is_wanted(const Case& test, int argc, char** argv) {
  if (argc < 2) return true;
  return std::any_of(argv + 1, argv + argc,
                     [&](const char* text) { return (test.spec + " " + test.name).find(text) != std::string::npos; });
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv("NNAPI_VECTORS");
  if (!path || !*path) {
    std::printf("skipped: NNAPI_VECTORS is not set\n");
    return 0;
  }
  Report report;
  try {
    vectors::for_each_case(path, [&](const Case& test) {
      if (!is_wanted(test, argc, argv)) return;
      const bool offered = std::all_of(test.operations.begin(), test.operations.end(),
                                       [](const vectors::Operation& operation) { return is_offered(operation.code); });
      if (!offered || test.has_subgraphs) return report.skip(test);
      run_variations(test, report);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "host_conformance: %s\n", error.what());
    return 1;
  }
  return report.finish();
}
