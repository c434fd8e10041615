// SPDX-License-Identifier: BSD-3-Clause
// Modules with late tensors are written as if all their weights were in memory.
#include "lib/serialize/deferred_tensors.h"
#include "lib/converter/graph/release.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/import.h>

#include <catch2/catch.hpp>
#include <memory>
#include <numeric>

#include "lib/converter/load/archive_file.h"
#include "lib/converter/load/archive_writer.h"
#include "lib/format/buffer_format_v2.h"
#include "lib/format/crc32.h"
#include "lib/shim/torch_binding.h"
#include "tests/converter/fixtures.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
using namespace nnapi_convert::test;
using nnapi::Constant;
using nnapi::Permute;

namespace {

Constant constant_of(const at::Tensor& tensor) {
  const auto owner = std::make_shared<const at::Tensor>(tensor);
  return Constant(nnapi::DataType::kFloat32, tensor.sizes().vec(), tensor.data_ptr(), owner);
}

// Large and small, with recipes and without.
std::vector<Constant> constants() {
  std::vector<Constant> result;
  for (int i = 0; i < 3; ++i) {
    result.push_back(constant_of(random_floats({70, 30, 5, 6}, 3 * i)).then(Permute{{0, 2, 3, 1}}));
    result.push_back(constant_of(random_floats({12}, 3 * i + 1)));
    result.push_back(constant_of(random_floats({40'000}, 3 * i + 2)));
  }
  return result;
}

torch::jit::Module module_of(const std::vector<at::Tensor>& tensors) {
  torch::jit::Module module("weights");
  module.register_attribute("weights", c10::ListType::ofTensors(), c10::List<at::Tensor>(tensors));
  module.define("def forward(self, i: int):\n    return self.weights[i]\n");
  return module;
}

torch::jit::Module module_of(const std::vector<Constant>& values, DeferredTensors& late) {
  std::vector<at::Tensor> tensors;
  for (const Constant& value : values) tensors.push_back(late.add(value));
  return module_of(tensors);
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor contiguous = tensor.contiguous();
  const float* begin = contiguous.data_ptr<float>();
  return std::vector<float>(begin, begin + contiguous.numel());
}

void check_weights(const torch::jit::Module& module, const std::vector<Constant>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("weight " << i);
    const at::Tensor found = module.get_method("forward")({static_cast<int64_t>(i)}).toTensor();
    CHECK(found.sizes().vec() == expected[i].shape());
    CHECK(values_of(found) == expected[i].floats());
  }
}

// Checks the checksums of all records.
void check_checksums(const std::string& path) {
  const ArchiveFile archive(path);
  REQUIRE(archive.records().size() > 10);
  for (const nnapi_shim::ZipRecord& record : archive.records()) {
    if (record.method != 0) continue;  // compressed text
    INFO(record.name);
    const auto begin = archive.data_begin(record);
    REQUIRE(begin);
    std::vector<uint8_t> bytes(record.bytes);
    REQUIRE(nnapi_shim::read_at(archive.file(), *begin, bytes.data(), bytes.size()));
    CHECK(crc32(bytes.data(), bytes.size()) == record.checksum);
  }
}

}  // namespace

namespace {

// LibTorch 2 writes a number that it makes of the records' checksums, which it takes before late tensors are written.
bool is_same_file(const std::string& path, const std::string& other) {
  const std::string one = read_bytes(path), two = read_bytes(other);
  return kIsAndroidsRelease ? one == two : one.size() == two.size();
}

std::vector<uint8_t> stored_bytes(const ArchiveFile& archive, const nnapi_shim::ZipRecord& record) {
  const auto begin = archive.data_begin(record);
  REQUIRE(begin);
  std::vector<uint8_t> bytes(record.stored_bytes);
  REQUIRE(nnapi_shim::read_at(archive.file(), *begin, bytes.data(), bytes.size()));
  return bytes;
}

// True if the archives hold the same records in the same order. Tables of source lines have a form of their own, which
// PyTorch 1.9 reads, too. LibTorch 2 writes a number that it makes of the records' checksums, which it takes before
// late tensors are written: its records are compared by their names alone.
bool is_same_archive(const std::string& path, const std::string& other) {
  const ArchiveFile one(path), two(other);
  if (one.records().size() != two.records().size()) return false;
  for (size_t i = 0; i < one.records().size(); ++i) {
    const nnapi_shim::ZipRecord &a = one.records()[i], &b = two.records()[i];
    if (a.name != b.name) return false;
    const bool is_table = a.name.find(".debug_pkl") != std::string::npos;
    if (kIsAndroidsRelease && !is_table && stored_bytes(one, a) != stored_bytes(two, b)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("late tensors: the archive is PyTorch's own of a module with the weights, record by record") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("out.pt", "out.ptl");
  const std::vector<Constant> values = constants();
  DeferredTensors all;
  const torch::jit::Module filled = module_of(values, all);
  all.fill();
  check_weights(filled, values);
  std::filesystem::create_directory(folder / "filled");
  write_module(filled, all, folder.file("filled/" + name), {});
  std::filesystem::create_directory(folder / "pytorch");
  if (name == "out.pt") {
    filled.save(folder.file("pytorch/" + name));
  } else {
    filled._save_for_mobile(folder.file("pytorch/" + name));
  }
  CHECK(is_same_archive(folder.file("filled/" + name), folder.file("pytorch/" + name)));

  DeferredTensors late;
  const torch::jit::Module module = module_of(values, late);
  const at::Tensor first = module.get_method("forward")({int64_t{0}}).toTensor();
  CHECK(late.holds(first));
  CHECK(first.storage().nbytes() == first.nbytes());
  CHECK(first.abs().max().item<float>() == 0);
  for (const char* sub : {"once", "twice", "released"}) {
    const std::string path = folder.file(std::string(sub) + "/" + name);
    std::filesystem::create_directory(folder / sub);
    if (std::string(sub) == "released") {
      write_and_release_module(module, late, path, {});
    } else {
      write_module(module, late, path, {});
    }
    CHECK(is_same_file(path, folder.file("filled/" + name)));
    check_checksums(path);
    check_weights(torch::jit::load(path), values);
  }
}

TEST_CASE("late tensors: each source is let go of once it is written") {
  const TemporaryFolder folder;
  DeferredTensors late;
  auto owner = std::make_shared<const std::vector<float>>(std::vector<float>(50'000, 1.5f));
  const std::weak_ptr<const std::vector<float>> watch = owner;
  std::vector<Constant> values = {Constant(nnapi::DataType::kFloat32, {50'000}, owner->data(), owner)};
  owner.reset();
  const torch::jit::Module module = module_of(values, late);
  release_late(values[0]);
  write_module(module, late, folder.file("out.pt"), {});
  CHECK_FALSE(watch.expired());
  write_and_release_module(module, late, folder.file("out.pt"), {});
  CHECK(watch.expired());
  CHECK_THROWS_AS(write_module(module, late, folder.file("out.pt"), {}), std::logic_error);
}

TEST_CASE("late tensors: content that looks like an archive's own parts is content") {
  const TemporaryFolder folder;
  DeferredTensors late;
  std::vector<at::Tensor> tensors;
  // Signatures of a local header, a directory's entry, a descriptor and the end.
  for (const int32_t signature : {0x04034b50, 0x02014b50, 0x08074b50, 0x06054b50}) {
    tensors.push_back(late.add(constant_of(random_floats({30'000}, static_cast<uint64_t>(signature)))));
    tensors.push_back(at::full({12}, signature, at::kInt));
  }
  write_module(module_of(tensors), late, folder.file("out.pt"), {});
  check_checksums(folder.file("out.pt"));
  const torch::jit::Module found = torch::jit::load(folder.file("out.pt"));
  late.fill();
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK(found.get_method("forward")({static_cast<int64_t>(i)}).toTensor().equal(tensors[i]));
  }
}

TEST_CASE("late tensors: converted models have their weights, for both runtimes") {
  const TemporaryFolder folder;
  LoadedModel loaded = from_source("def forward(self, x: Tensor):\n    return torch.conv2d(x, self.weight)\n",
                                   {{"weight", random_floats({64, 32, 5, 5}, 1)}});
  const at::Tensor x = random_floats({1, 32, 9, 9}, 2);
  const at::Tensor expected = run(loaded.module, {x}).toTensor();
  ConvertOptions options = options_for({"1,32,9,9"}, false);
  options.runtime = GENERATE(Runtime::kPytorch, Runtime::kShim);
  Diagnostics diagnostics;
  Conversion conversion = convert(loaded, options, diagnostics);
  write_conversion(conversion, folder.file("first.pt"));
  CHECK(relative_error(expected, run(torch::jit::load(folder.file("first.pt")), {x}).toTensor()) < 1e-5);
  check_checksums(folder.file("first.pt"));
  SECTION("written again") {
    std::filesystem::create_directory(folder / "again");
    write_and_release(conversion, folder.file("again/first.pt"));
    CHECK(is_same_file(folder.file("again/first.pt"), folder.file("first.pt")));
  }
  SECTION("a copy run in memory, then written") {
    CHECK(relative_error(expected, run(conversion.runnable_module().deepcopy(), {x}).toTensor()) < 1e-5);
    std::filesystem::create_directory(folder / "again");
    write_conversion(conversion, folder.file("again/first.pt"));
    CHECK(is_same_file(folder.file("again/first.pt"), folder.file("first.pt")));
  }
}

TEST_CASE("late tensors: the shim's words carry the checksum of its weights") {
  const TemporaryFolder folder;
  const int64_t channels = GENERATE(2, 64);  // few weights are never late
  LoadedModel loaded = from_source("def forward(self, x: Tensor):\n    return torch.conv2d(x, self.weight)\n",
                                   {{"weight", random_floats({channels, 32, 5, 5}, 1)}});
  ConvertOptions options = options_for({"1,32,9,9"});
  options.runtime = Runtime::kShim;
  Diagnostics diagnostics;
  Conversion conversion = convert(loaded, options, diagnostics);
  write_and_release(conversion, folder.file("out.pt"));
  const auto tensors = nnapi_shim::tensors_of(torch::jit::load(folder.file("out.pt")).attr("comp"));
  const int32_t* words = tensors.words.data_ptr<int32_t>();
  const uint32_t found = static_cast<uint32_t>(words[buffer_format_v2::kWeightChecksum]);
  CHECK(found == crc32(tensors.weights.data_ptr(), tensors.weights.nbytes()));
  CHECK(tensors.weights.nbytes() >= static_cast<size_t>(channels) * 3200);
}

TEST_CASE("late tensors: a disk that is full is told") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "out.pt");
  DeferredTensors late;
  const torch::jit::Module module = module_of(constants(), late);
  CHECK(error_of(ExitCode::kBadFile, [&] { write_module(module, late, folder.file("out.pt"), {}); }) ==
        "can't write out.pt: No space left on device");
}
