// SPDX-License-Identifier: BSD-3-Clause
// Reads Android's NNAPI test cases as data. The data's folder explains the fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/format/nnapi_codes.h"
#include "tests/temporary_folder.h"

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
  std::vector<double> values;  // of a constant or an input; for a subgraph, its index among the referenced models
  std::vector<double> expected;
};

struct Operation {
  OperationCode code = OperationCode::ADD;
  std::vector<uint32_t> inputs, outputs;
};

struct Graph {
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs, outputs;
};

struct Tolerance {
  double absolute = 0, relative = 0;
};

struct Case {
  std::string spec, name;
  int min_level = 0;  // 0: unknown
  bool relaxed = false, expect_failure = false, zero_sized = false, dynamic_output_shape = false,
       quant8_coupling = false;
  Graph main;
  std::vector<Graph> referenced;
  std::map<OperandCode, Tolerance> tolerances;
  std::optional<double> multinomial;  // tolerance of frequencies
};

// A case that the data do not contain; they may contain other cases of its spec.
struct LeftOut {
  std::string spec, name, reason;
};

// The data, from a folder or from a .tar.xz archive, which stays unpacked while the object lives.
class Collection {
 public:
  explicit Collection(const std::string& path);

  const std::vector<std::filesystem::path>& files() const { return files_; }  // in the order of their names
  const std::vector<LeftOut>& left_out() const { return left_out_; }

 private:
  std::optional<nnapi_convert::test::TemporaryFolder> unpacked_;
  std::vector<std::filesystem::path> files_;
  std::vector<LeftOut> left_out_;
};

std::vector<Case> read_cases(const std::filesystem::path& file);

// Returns the case with signed in place of unsigned 8-bit operands.
Case with_signed_codes(const Case& original);
// Returns the case without declared extents of its outputs.
Case with_unknown_outputs(const Case& original);

}  // namespace vectors
