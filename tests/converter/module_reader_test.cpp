// SPDX-License-Identifier: BSD-3-Clause
// Weights that are mapped are what PyTorch reads, whatever the archive's order and form.
#include "lib/converter/load/module_reader.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "lib/converter/load/custom_operators.h"
#include "lib/converter/load/newer_operators.h"
#include "tests/converter/fixtures.h"
#include "tests/temporary_folder.h"

using namespace nnapi_convert;
using namespace nnapi_convert::test;
using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::PyTorchStreamWriter;

namespace {

constexpr const char* kSource = R"(
def forward(self, x):
    return x + self.a
)";

// Weights of one size, of others, a view of a part of another, and one that is there twice.
torch::jit::Module many_weights() {
  torch::jit::Module module("many_weights");
  const auto add = [&](const std::string& name, const at::Tensor& tensor) {
    module.register_attribute(name, c10::TensorType::get(), tensor);
  };
  const at::Tensor a = random_floats({300, 200}, 1);
  add("a", a);
  add("b", random_floats({200, 300}, 2));
  add("few", random_floats({7}, 3));
  add("c", random_floats({60'000}, 4));
  add("large", random_floats({500, 300}, 5));
  add("part", a.narrow(0, 100, 150));
  add("same", a);
  add("int", at::arange(120'000, at::kLong));
  module.define(kSource);
  module.eval();
  return module;
}

torch::jit::Module read(const std::string& path) {
  ModelArchive archive(path);
  return read_module(archive);
}

// How many parts of the file are in this process's memory.
size_t mapped_parts(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(path) != std::string::npos ? 1 : 0;
  return count;
}

// Writes the archive's records anew: in the opposite order, or compressed.
void repack(const std::string& from, const std::string& to, bool compresses) {
  PyTorchStreamReader reader(from);
  PyTorchStreamWriter writer(to);
  std::vector<std::string> names = reader.getAllRecords();
  std::reverse(names.begin(), names.end());
  for (const std::string& name : names) {
    if (name == "version") continue;  // the writer's own
    const auto [data, size] = reader.getRecord(name);
    writer.writeRecord(name, data.get(), size, compresses);
  }
  writer.writeEndOfFile();
}

void check_equal(const torch::jit::Module& expected, const torch::jit::Module& found) {
  for (const auto& attribute : expected.named_attributes()) {
    if (!attribute.value.isTensor()) continue;
    INFO(attribute.name);
    const at::Tensor tensor = found.attr(attribute.name).toTensor();
    CHECK(tensor.equal(attribute.value.toTensor()));
    CHECK(reinterpret_cast<uintptr_t>(tensor.storage().data()) % 64 == 0);
  }
}

bool same_tensor(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || (a.scalar_type() == b.scalar_type() && a.equal(b)));
}

}  // namespace

TEST_CASE("module reader: what PyTorch saved is mapped, record by record") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.pt");
  const torch::jit::Module original = many_weights();
  original.save(path);
  {
    const torch::jit::Module found = read(path);
    check_equal(original, found);
    CHECK(mapped_parts(path) == 5);  // a, b, c, large, int
    CHECK(found.attr("a").toTensor().is_alias_of(found.attr("part").toTensor()));
    const at::Tensor x = random_floats({300, 200}, 9);
    CHECK(run(found, {x}).toTensor().equal(run(original, {x}).toTensor()));
  }
  CHECK(mapped_parts(path) == 0);  // gone with the tensors
}

TEST_CASE("module reader: another order, and compressed records") {
  const TemporaryFolder folder;
  const torch::jit::Module original = many_weights();
  original.save(folder.file("model.pt"));
  const bool compresses = GENERATE(false, true);
  const std::string path = folder.file("again.pt");
  repack(folder.file("model.pt"), path, compresses);
  const torch::jit::Module found = read(path);
  check_equal(original, found);
  CHECK((mapped_parts(path) == 0) == compresses);
}

TEST_CASE("module reader: a change of a weight stays in the process") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.pt");
  many_weights().save(path);
  const std::string before = read_bytes(path);
  const torch::jit::Module changed = read(path);
  changed.attr("a").toTensor().fill_(7);
  CHECK(changed.attr("part").toTensor().min().item<float>() == 7);
  CHECK(read_bytes(path) == before);
  check_equal(many_weights(), read(path));
}

TEST_CASE("module reader: tensors that other code makes while the file is read are its own") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.pt");
  torch::jit::Module module = many_weights();
  // __setstate__ makes new tensors of the same sizes as the records.
  module.define(R"(
def __getstate__(self):
    return self.a, self.b, self.c, self.few, self.large, self.part, self.same, self.int
def __setstate__(self, state: Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]):
    twos = torch.full([300, 200], 2.0)
    self.a = state[0] * twos
    self.b = torch.full([60000], 3.0)
    self.c = state[2] + 1.0
    self.few = state[3]
    self.large = state[4]
    self.part = state[5]
    self.same = state[6]
    self.int = state[7]
)");
  module.save(path);
  check_equal(torch::jit::load(path), read(path));
}

TEST_CASE("module reader: code, source lines and values are those that LibTorch reads") {
  declare_custom_operators();
  declare_newer_operators();
  size_t models = 0, lines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NNAPI_CONVERT_FIXTURES)) {
    const std::string path = entry.path();
    if (entry.path().extension() != ".pt" && entry.path().extension() != ".ptl") continue;
    INFO(path);
    const torch::jit::Module expected = torch::jit::load(path), found = read(path);
    const auto expected_graphs = saved_graphs(expected), graphs = saved_graphs(found);
    REQUIRE(graphs.size() == expected_graphs.size());
    for (size_t i = 0; i < graphs.size(); ++i) {
      const std::string text = graphs[i]->toString();  // names the lines that made each node
      CHECK(text == expected_graphs[i]->toString());
      lines += text.find(".py:") != std::string::npos ? 1 : 0;
    }
    const auto expected_values = expected.named_attributes(), values = found.named_attributes();
    auto value = values.begin();
    for (const auto& each : expected_values) {
      const auto& [name, found_value] = *value;
      INFO(name);
      CHECK(name == each.name);
      if (each.value.isTensor()) CHECK(same_tensor(found_value.toTensor(), each.value.toTensor()));
      ++value;
    }
    ++models;
  }
  CHECK(models > 30);
  CHECK(lines > 30);
}

TEST_CASE("module reader: what an object made of its state itself") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.pt");
  torch::jit::Module module("has_state");
  module.register_attribute("weight", c10::TensorType::get(), random_floats({3}, 1));
  module.register_attribute("sizes", c10::ListType::ofInts(), c10::List<int64_t>({2, 3}));
  module.define(R"(
def __getstate__(self):
    return self.weight, self.sizes
def __setstate__(self, state: Tuple[Tensor, List[int]]):
    self.weight = state[0] * 2.0
    self.sizes = state[1]
def forward(self, x):
    return x * self.weight + float(self.sizes[1])
)");
  const at::Tensor weight = module.attr("weight").toTensor(), x = random_floats({3}, 2);
  module.save(path);
  CHECK(run(read(path), {x}).toTensor().equal(x * (weight * 2) + 3));
}

TEST_CASE("module reader: an archive keeps what it unpacked, up to a size") {
  const TemporaryFolder folder;
  const std::string path = folder.file("archive.zip"), large(ModelArchive::kMostKeptBytes, 'a'), small = "b";
  {
    PyTorchStreamWriter writer(path);
    writer.writeRecord("small", small.data(), small.size(), true);
    writer.writeRecord("large", large.data(), large.size(), true);
    writer.writeEndOfFile();
  }
  ModelArchive archive(path);
  CHECK(archive.content("small") == archive.content("small"));
  CHECK(*archive.content("large") == large);
  CHECK(archive.content("large") != archive.content("large"));
  CHECK(*archive.content("small") == small);
  CHECK_THROWS_AS(archive.content("missing"), c10::Error);
}

TEST_CASE("module reader: files that are no archives, or cut off, are refused as PyTorch does") {
  const TemporaryFolder folder;
  many_weights().save(folder.file("model.pt"));
  const std::string bytes = read_bytes(folder.file("model.pt"));
  for (const size_t size : {size_t{0}, size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string path = folder.file("cut.pt");
    std::ofstream(path, std::ios::binary) << bytes.substr(0, size);
    CHECK_THROWS_AS(read(path), c10::Error);
  }
  CHECK_THROWS_AS(read(folder.file("nothing.pt")), c10::Error);
}
