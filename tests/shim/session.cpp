// SPDX-License-Identifier: BSD-3-Clause
// See session.h.
#include "tests/shim/session.h"

#include <dlfcn.h>

#include <cstdlib>

namespace nnapi_shim::testing {
namespace {

struct NativeShapes {
  explicit NativeShapes(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) list.push_back({static_cast<uint32_t>(shape.sizes.size()), shape.sizes.data()});
  }
  uint32_t count() const { return static_cast<uint32_t>(list.size()); }
  std::vector<nnapi_shim_shape> list;
};

std::vector<nnapi_shim_buffer> native(std::vector<std::vector<uint8_t>>& buffers) {
  std::vector<nnapi_shim_buffer> list;
  for (std::vector<uint8_t>& buffer : buffers) list.push_back({buffer.data(), buffer.size()});
  return list;
}

}  // namespace

std::string fake_path(const std::string& name) {
  const char* folder = std::getenv("FAKE_NNAPI_FOLDER");  // on another machine than the one that built the tests
  return std::string(folder ? folder : FAKE_NNAPI_FOLDER) + "/libfake_nnapi_" + name + ".so";
}

fake_nnapi::Fake& fake(const std::string& name) {
  void* library = dlopen(fake_path(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  using Control = fake_nnapi::Fake* (*)();
  const auto control = reinterpret_cast<Control>(dlsym(library, "fake_nnapi_control"));
  REQUIRE(control != nullptr);
  return *control();
}

fake_nnapi::Fake& fresh_fake(const std::string& name, const fake_nnapi::Settings& settings) {
  fake_nnapi::Fake& control = fake(name);
  control.reset(settings);
  return control;
}

void check_all_freed(fake_nnapi::Fake& nnapi) {
  CHECK(nnapi.record().live == 0);
  CHECK(nnapi.record().violations == std::vector<std::string>{});
}

Session::Session(const Description& net) : made_(make_buffer(net)) {
  nnapi_shim_open_memory(made_.words.data(), made_.words.size(), made_.weights.data(), made_.weights.size(), &model_,
                         &error_);
  INFO(error_.message);
  REQUIRE(model_ != nullptr);
}

Session::~Session() {
  nnapi_shim_close(model_);
}

int Session::configure(const std::string& library, nnapi_shim_options options) {
  const std::string path = fake_path(library);
  options.struct_bytes = sizeof(options);
  options.library = path.c_str();
  options.is_support_library = library == "support_library" ? 1 : 0;
  return nnapi_shim_configure(model_, &options, &error_);
}

int Session::warm_up(const std::vector<Shape>& shapes) {
  const NativeShapes arguments(shapes);
  return nnapi_shim_warm_up(model_, arguments.list.data(), arguments.count(), &error_);
}

std::vector<std::vector<uint8_t>> Session::inputs(const std::vector<Shape>& shapes) {
  const NativeShapes arguments(shapes);
  std::vector<std::vector<uint8_t>> buffers;
  for (uint32_t i = 0; i < nnapi_shim_input_count(model_); ++i) {
    nnapi_shim_tensor tensor;
    REQUIRE(nnapi_shim_input(model_, arguments.list.data(), arguments.count(), i, &tensor, &error_) == 0);
    buffers.emplace_back(tensor.bytes);
  }
  return buffers;
}

std::vector<std::vector<uint8_t>> Session::outputs(const std::vector<Shape>& shapes) {
  const NativeShapes arguments(shapes);
  std::vector<std::vector<uint8_t>> buffers;
  for (uint32_t i = 0; i < nnapi_shim_output_count(model_); ++i) {
    nnapi_shim_tensor tensor;
    REQUIRE(nnapi_shim_output(model_, arguments.list.data(), arguments.count(), i, &tensor, &error_) == 0);
    buffers.emplace_back(tensor.bytes);
  }
  return buffers;
}

int Session::run(const std::vector<Shape>& shapes, std::vector<std::vector<uint8_t>>& inputs,
                 std::vector<std::vector<uint8_t>>& outputs) {
  const NativeShapes arguments(shapes);
  const std::vector<nnapi_shim_buffer> from = native(inputs), to = native(outputs);
  return nnapi_shim_run(model_, arguments.list.data(), arguments.count(), from.data(),
                        static_cast<uint32_t>(from.size()), to.data(), static_cast<uint32_t>(to.size()), &error_);
}

int Session::run(const std::vector<Shape>& shapes, uint8_t first) {
  std::vector<std::vector<uint8_t>> from = inputs(shapes), to = outputs(shapes);
  for (std::vector<uint8_t>& buffer : from) {
    for (uint8_t& byte : buffer) byte = first++;
  }
  const int status = run(shapes, from, to);
  if (status != NNAPI_SHIM_OK) return status;
  for (size_t i = 0; i < to.size(); ++i) REQUIRE(to[i] == faked(from, i, to[i].size()));
  return status;
}

nnapi_shim_profile Session::profile() const {
  nnapi_shim_profile profile;
  nnapi_shim_get_profile(model_, &profile);
  return profile;
}

nnapi_shim_error Session::last_failure() const {
  nnapi_shim_error error;
  nnapi_shim_last_failure(model_, &error);
  return error;
}

std::vector<uint8_t> faked(const std::vector<std::vector<uint8_t>>& inputs, size_t output, size_t length) {
  const std::vector<uint8_t>& from = inputs[output % inputs.size()];
  std::vector<uint8_t> bytes(length);
  for (size_t k = 0; k < length; ++k) bytes[k] = static_cast<uint8_t>(from[k % from.size()] + 1);
  return bytes;
}

std::vector<Shape> rows(int64_t count) {
  return {{{count, 64}}};
}

std::vector<Shape> image(int64_t size) {
  return {{{1, 3, size, size}}, {{1}}};
}

}  // namespace nnapi_shim::testing
