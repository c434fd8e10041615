// SPDX-License-Identifier: BSD-3-Clause
// Builds the models of a test case with the C interface.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/host_runtime/neural_networks.h"
#include "tests/host_runtime/vectors.h"

namespace conformance {

// Thrown when the library refuses a call.
struct Refused : std::runtime_error {
  Refused(const char* call, int result);
  int code;
};
void check(int code, const char* call);

// Memory that the library and the test share.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::size_t size() const { return size_; }
  uint8_t* data() { return data_; }
  const ANeuralNetworksMemory* get() const { return memory_; }

 private:
  std::size_t size_;
  uint8_t* data_ = nullptr;
  ANeuralNetworksMemory* memory_ = nullptr;
};

// Places pieces of given lengths in one memory, none at its begin, with room between them.
class Layout {
 public:
  std::size_t add(std::size_t length);
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 64;
};

using Model = std::unique_ptr<ANeuralNetworksModel, decltype(&ANeuralNetworksModel_free)>;

// The finished model of a case, with the models that it refers to and the bytes of its constants. A shared memory holds
// the constants of CONSTANT_REFERENCE.
class CaseModel {
 public:
  explicit CaseModel(const vectors::Case& test);

  ANeuralNetworksModel* get() const { return main_.get(); }

 private:
  void build(const vectors::Graph& graph, ANeuralNetworksModel* model);
  void add_operand(const vectors::Operand& operand, int32_t index, ANeuralNetworksModel* model);
  void set_referenced(const vectors::Operand& operand, int32_t index, ANeuralNetworksModel* model);
  ANeuralNetworksModel* referenced(std::size_t number);

  const vectors::Case& test_;
  std::vector<std::vector<uint8_t>> constants_;
  std::vector<std::unique_ptr<SharedMemory>> memories_;
  std::vector<Model> referenced_;
  Model main_;
};

}  // namespace conformance
