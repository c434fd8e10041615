// SPDX-License-Identifier: BSD-3-Clause
// Files with a program for the shim's tests, opened by the C interface.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/program/program_maker.h"
#include "tests/shim/session.h"
#include "tests/shim/zip_maker.h"

namespace nnapi_shim::testing {

using nnapi_convert::program_format::Opcode;
using nnapi_convert::program_format::ScalarType;
using program_testing::Code;
using program_testing::MadeMethod;
using program_testing::ProgramMaker;
using program_testing::operator+;

inline std::vector<uint8_t> text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

// The archive of a program and its segments, or, without a program, of the segments by another index.
inline std::vector<uint8_t> archive_of(const std::vector<uint8_t>& program, const std::vector<Description>& segments,
                                       std::string index = "") {
  std::vector<ZipEntry> entries;
  if (index.empty()) {
    index = "program 1\nextra/nnapi_shim.program\n" + std::to_string(segments.size()) + "\n";
    for (size_t i = 0; i < segments.size(); ++i) {
      index += "data/" + std::to_string(2 * i + 1) + "\ndata/" + std::to_string(2 * i) + "\n";
    }
  }
  for (const Description& net : segments) {
    const MadeBuffer made = make_buffer(net);
    const std::string number = std::to_string(entries.size()), next = std::to_string(entries.size() + 1);
    entries.push_back({"net/data/" + number, made.weights, 64});
    entries.push_back({"net/data/" + next, bytes_of(made.words)});
  }
  if (!program.empty()) entries.push_back({"net/extra/nnapi_shim.program", program, 64});
  entries.push_back({"net/extra/nnapi_shim.index", text_bytes(index)});
  return make_zip(entries, {});
}

// A tensor of a call with its memory.
struct Given {
  Given(std::string name, ScalarType type, std::vector<int64_t> shape, std::vector<uint8_t> content)
      : path(std::move(name)), dtype(type), sizes(std::move(shape)), bytes(std::move(content)) {}
  Given(std::string name, const std::vector<int64_t>& shape, const std::vector<float>& numbers)
      : Given(std::move(name), ScalarType::kFloat32, shape, bytes_of(numbers)) {}
  static Given integer(const std::string& name, int64_t value) {
    std::vector<uint8_t> bytes(8);
    std::memcpy(bytes.data(), &value, 8);
    return Given(name, ScalarType::kInt64, {}, bytes);
  }

  std::string path;
  ScalarType dtype;
  std::vector<int64_t> sizes;
  std::vector<uint8_t> bytes;
};

inline std::vector<nnapi_shim_named_tensor> tensors_of(const std::vector<Given>& given) {
  std::vector<nnapi_shim_named_tensor> tensors;
  for (const Given& each : given) {
    tensors.push_back({each.path.c_str(), static_cast<int32_t>(each.dtype), static_cast<uint32_t>(each.sizes.size()),
                       each.sizes.data(), each.bytes.data(), each.bytes.size()});
  }
  return tensors;
}

class OpenFile {
 public:
  explicit OpenFile(std::vector<uint8_t> archive) : archive_(std::move(archive)), result_(nnapi_shim_result_new()) {
    status_ = nnapi_shim_open_archive(archive_.data(), archive_.size(), &model_, &error_);
  }
  explicit OpenFile(ProgramMaker& maker, const std::vector<Description>& segments = {})
      : OpenFile(archive_of(maker.make_record(), segments)) {}
  ~OpenFile() {
    nnapi_shim_result_free(result_);
    nnapi_shim_close(model_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int status() const { return status_; }
  std::string message() const { return error_.message; }
  nnapi_shim_model* model() const { return model_; }
  nnapi_shim_result* result() const { return result_; }
  int configure(const std::string& library) {
    nnapi_shim_options options{};
    options.struct_bytes = sizeof options;
    const std::string path = fake_path(library);
    options.library = path.c_str();
    return nnapi_shim_configure(model_, &options, &error_);
  }
  int call(const std::vector<Given>& given, const char* method = nullptr) {
    const std::vector<nnapi_shim_named_tensor> tensors = tensors_of(given);
    return nnapi_shim_call(model_, method, tensors.data(), static_cast<uint32_t>(tensors.size()), result_, &error_);
  }
  // Why a call is refused.
  std::string refusal(const std::vector<Given>& given) {
    const int status = call(given);
    CHECK(status == NNAPI_SHIM_BAD_ARGUMENT);
    CHECK(nnapi_shim_result_count(result_) == 0);
    return message();
  }
  std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    for (uint32_t i = 0; i < nnapi_shim_result_count(result_); ++i) {
      nnapi_shim_named_tensor tensor{};
      CHECK(nnapi_shim_result_tensor(result_, i, &tensor, nullptr) == NNAPI_SHIM_OK);
      paths.emplace_back(tensor.path);
    }
    return paths;
  }
  nnapi_shim_named_tensor found(const std::string& path) const {
    nnapi_shim_named_tensor tensor{};
    INFO(path);
    REQUIRE(nnapi_shim_result_find(result_, path.c_str(), &tensor, nullptr) == NNAPI_SHIM_OK);
    return tensor;
  }
  std::vector<uint8_t> bytes(const std::string& path) const {
    const nnapi_shim_named_tensor tensor = found(path);
    const auto* data = static_cast<const uint8_t*>(tensor.data);
    return {data, data + tensor.bytes};
  }
  int64_t integer(const std::string& path) const {
    const nnapi_shim_named_tensor tensor = found(path);
    CHECK(tensor.dtype == NNAPI_SHIM_INT64);
    CHECK(tensor.rank == 0);
    int64_t value = 0;
    std::memcpy(&value, tensor.data, sizeof value);
    return value;
  }

 private:
  const std::vector<uint8_t> archive_;
  nnapi_shim_model* model_ = nullptr;
  nnapi_shim_result* const result_;
  nnapi_shim_error error_{};
  int status_ = 0;
};

inline MadeMethod method_of(Code code, uint32_t result,
                            std::vector<nnapi_shim::program_testing::MadeArgument> arguments,
                            const std::string& result_type) {
  MadeMethod method;
  method.registers = 32;
  method.arguments = std::move(arguments);
  method.result = result;
  method.result_type = result_type;
  method.code = std::move(code);
  return method;
}

// A program that gives its argument back.
inline ProgramMaker echo_of(const std::string& type) {
  ProgramMaker make;
  make.add_method(method_of({}, 0, {{"x", type}}, type));
  return make;
}

inline std::vector<uint8_t> plus(std::vector<uint8_t> bytes, uint8_t more) {
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte + more);
  return bytes;
}

// One operation on [1, 2, 3, 4], which NNAPI has in NHWC.
inline Description nhwc_net() {
  Description net = three_operations();
  net.arguments = {{1, 2, 3, 4}};
  net.expressions = {};
  for (Operand& operand : net.models[0].operands) {
    if (operand.dims.size() == 2) operand.dims = {1, 3, 4, 2};
    if (operand.dims.size() == 1) operand.dims = {64};
  }
  net.models[0].inputs[0].layout = nnapi_convert::buffer_format_v2::Layout::kNhwc;
  net.models[0].outputs[0].layout = nnapi_convert::buffer_format_v2::Layout::kNhwc;
  return net;
}

}  // namespace nnapi_shim::testing
