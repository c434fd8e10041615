// SPDX-License-Identifier: BSD-3-Clause
// The files of cached compilations.
#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

std::vector<uint8_t> token_of(uint8_t first) {
  std::vector<uint8_t> token(32, 0xab);
  token[0] = first;
  return token;
}

// Compiles with a cache and returns the log's sentences about the file.
std::string compile(const ModelSpec& spec, const std::string& folder, uint8_t token) {
  const Variable log("NNAPI_HOST_LOG", "info");
  StderrCapture capture;
  const Model model = built(spec);
  const Compilation compilation = compilation_for(model, device());
  REQUIRE(ANeuralNetworksCompilation_setCaching(compilation.get(), folder.c_str(), token_of(token).data()) == 0);
  CHECK(ANeuralNetworksCompilation_finish(compilation.get()) == 0);
  return capture.text();
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a cache file is found, and replaced where it is wrong", "[caching]") {
  const TemporaryFolder folder;
  CHECK(says(compile(plus_one({2}), folder.path(), 1), ": missing, it is written anew"));
  std::string name = "01";
  for (int i = 1; i < 32; ++i) name += "ab";
  const std::string file = folder.file(name + ".nnapi-host");
  const std::string content = read_file(file);
  REQUIRE_FALSE(content.empty());
  CHECK(says(compile(plus_one({2}), folder.path(), 1), ": found"));
  CHECK(says(compile(plus_one({3}), folder.path(), 2), ": missing"));

  SECTION("another model's") {
    CHECK(says(compile(plus_one({3}), folder.path(), 1), ": of another model, it is written anew"));
    CHECK(says(compile(plus_one({3}), folder.path(), 1), ": found"));
  }
  SECTION("shorter") {
    for (const std::size_t length : {std::size_t{0}, std::size_t{10}, content.size() - 1}) {
      write_file(file, content.substr(0, length));
      CHECK(says(compile(plus_one({2}), folder.path(), 1), ": damaged, it is written anew"));
      CHECK(read_file(file) == content);
    }
  }
  SECTION("with a wrong byte") {
    for (std::size_t i = 0; i < content.size(); i += 7) {
      std::string damaged = content;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
      write_file(file, damaged);
      CHECK(says(compile(plus_one({2}), folder.path(), 1), ": damaged, it is written anew"));
      CHECK(read_file(file) == content);
    }
  }
  SECTION("at another feature level") {
    const Variable level("NNAPI_HOST_FEATURE_LEVEL", "4");
    CHECK(says(compile(plus_one({2}), folder.path(), 1), ": of another model"));
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.is_regular_file();
  CHECK(files == 2);
}

TEST_CASE("a cache that can't be written", "[caching]") {
  const Model model = built(plus_one({2}));
  const Compilation compilation = compilation_for(model, device());
  REQUIRE(ANeuralNetworksCompilation_setCaching(compilation.get(), "/nonexistent", token_of(1).data()) == 0);
  refuses(0, "No such file or directory; nothing is cached",
          [&] { return ANeuralNetworksCompilation_finish(compilation.get()); });
  refuses(kBadState, "setCaching: the compilation is finished already",
          [&] { return ANeuralNetworksCompilation_setCaching(compilation.get(), "/nonexistent", token_of(1).data()); });
}
