// SPDX-License-Identifier: BSD-3-Clause
// Parses and binds buffers for the shim's tests.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "lib/shim/model_buffer.h"
#include "tests/shim/buffer_maker.h"

namespace nnapi_shim::testing {

using Sizes = std::vector<int64_t>;

struct Shapes {
  Shapes(std::vector<Sizes> arguments) : sizes(std::move(arguments)) {  // NOLINT: as it reads in a call
    for (const Sizes& axes : sizes) shapes.push_back({static_cast<uint32_t>(axes.size()), axes.data()});
  }
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  std::vector<Sizes> sizes;
  std::vector<nnapi_shim_shape> shapes;
};

inline std::unique_ptr<const ModelBuffer> parse(const MadeBuffer& made, nnapi_shim_error* error) {
  return ModelBuffer::parse(made.words.data(), made.words.size(), made.weights.size(), error);
}

inline std::unique_ptr<const ModelBuffer> parse_good(const MadeBuffer& made) {
  nnapi_shim_error error{};
  auto buffer = parse(made, &error);
  INFO(error.message);
  REQUIRE(buffer != nullptr);
  return buffer;
}

// Returns the sentence with which the shim refuses a buffer.
inline std::string refusal(const MadeBuffer& made) {
  nnapi_shim_error error{};
  CHECK(parse(made, &error) == nullptr);
  CHECK(error.status == NNAPI_SHIM_BAD_MODEL);
  return error.message;
}

inline ModelView bind_good(const ModelBuffer& buffer, const Shapes& arguments) {
  nnapi_shim_error error{};
  ModelView view;
  const int status =
      buffer.bind(arguments.shapes.data(), static_cast<uint32_t>(arguments.shapes.size()), &view, &error);
  INFO(error.message);
  REQUIRE(status == NNAPI_SHIM_OK);
  return view;
}

// Returns the sentence with which the shim refuses shapes.
inline std::string bind_refusal(const ModelBuffer& buffer, const Shapes& arguments) {
  nnapi_shim_error error{};
  ModelView view;
  const int status =
      buffer.bind(arguments.shapes.data(), static_cast<uint32_t>(arguments.shapes.size()), &view, &error);
  CHECK(status == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(error.status == status);
  CHECK(view.models.empty());
  return error.message;
}

// The project's folder: what the build knows, unless the tests run on another machine.
inline std::string source_folder(const char* built_from) {
  const char* folder = std::getenv("NNAPI_SOURCE_FOLDER");
  return folder ? folder : built_from;
}

inline std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace nnapi_shim::testing
