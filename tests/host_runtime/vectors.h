// Android's NNAPI test cases: reading them, and their numbers as bytes. The folder of the data explains the fields.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"

namespace vectors {

using nnapi_convert::OperandCode;
using nnapi_convert::OperationCode;

struct Operand {
  OperandCode type = OperandCode::FLOAT32;
  std::vector<uint32_t> dims;
  float scale = 0;
  int32_t zero_point = 0;
  std::string lifetime;
  uint32_t channel_dim = 0;
  std::vector<float> channel_scales;
  bool ignored = false;
  std::vector<double> values;  // of a constant or an input
  std::vector<double> expected;
};

struct Operation {
  OperationCode code = OperationCode::ADD;
  std::vector<uint32_t> inputs, outputs;
};

struct Tolerance {
  double absolute = 0, relative = 0;
};

struct Case {
  std::string spec, name;
  int min_level = 0;  // 0: unknown
  bool relaxed = false, expect_failure = false, zero_sized = false, dynamic_output_shape = false,
       quant8_coupling = false, has_subgraphs = false;
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs, outputs;
  std::map<OperandCode, Tolerance> tolerances;
  double multinomial_tolerance = 0;  // of the frequencies of RANDOM_MULTINOMIAL's samples; 0 for other operations
};

// Calls `use` for each case under the folder or in the .tar.xz archive; returns how many there are.
int for_each_case(const std::string& path, const std::function<void(const Case&)>& use);

// The case with its unsigned 8-bit operands turned into signed ones.
Case with_signed_codes(const Case& original);
// The case with its outputs' extents undeclared.
Case with_unknown_outputs(const Case& original);

bool is_tensor(OperandCode type);
std::vector<uint8_t> to_bytes(OperandCode type, const std::vector<double>& values);
std::vector<double> from_bytes(OperandCode type, const std::vector<uint8_t>& bytes);
// The value as the type holds it.
double rounded_to(OperandCode type, double value);

}  // namespace vectors
