// SPDX-License-Identifier: BSD-3-Clause
// Serves the shim's tests: loads a fake NNAPI, opens a model on it and runs the model.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "lib/shim/nnapi_shim.h"
#include "tests/shim/buffer_maker.h"
#include "tests/shim/fake_nnapi.h"
#include "tests/shim/three_operations.h"

namespace nnapi_shim::testing {

// Returns the path of a fake: "level1" to "level5", "support_library", "without_finish".
std::string fake_path(const std::string& name);

// Loads a fake and returns its control; the library stays loaded.
fake_nnapi::Fake& fake(const std::string& name);
// Returns fake(name) after reset(settings).
fake_nnapi::Fake& fresh_fake(const std::string& name, const fake_nnapi::Settings& settings = {});

// Checks that no object of the fake lives and that no rule of the API was broken.
void check_all_freed(fake_nnapi::Fake& nnapi);

struct Shape {
  std::vector<int64_t> sizes;
};

// An open model. The default shapes are the model's own arguments.
class Session {
 public:
  explicit Session(const Description& net);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  nnapi_shim_model* model() const { return model_; }
  const nnapi_shim_error& error() const { return error_; }
  std::string message() const { return error_.message; }

  // Configures the model with `options` and with the library's path from the fake's name.
  int configure(const std::string& library, nnapi_shim_options options = {});
  int warm_up(const std::vector<Shape>& shapes);
  // Fills inputs with bytes that start at `first`, and checks what the fake writes.
  int run(const std::vector<Shape>& shapes, uint8_t first = 0);
  // Runs with the caller's buffers.
  int run(const std::vector<Shape>& shapes, std::vector<std::vector<uint8_t>>& inputs,
          std::vector<std::vector<uint8_t>>& outputs);
  nnapi_shim_profile profile() const;
  nnapi_shim_error last_failure() const;

  // Returns buffers of the sizes that the model has for these shapes.
  std::vector<std::vector<uint8_t>> inputs(const std::vector<Shape>& shapes);
  std::vector<std::vector<uint8_t>> outputs(const std::vector<Shape>& shapes);

 private:
  MadeBuffer made_;
  nnapi_shim_model* model_ = nullptr;
  nnapi_shim_error error_{};
};

// Returns the bytes that the fake computes.
std::vector<uint8_t> faked(const std::vector<std::vector<uint8_t>>& inputs, size_t output, size_t length);

// These two return shapes for three_operations() and for full_net().
std::vector<Shape> rows(int64_t count);
std::vector<Shape> image(int64_t size);

}  // namespace nnapi_shim::testing
