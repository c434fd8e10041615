// SPDX-License-Identifier: BSD-3-Clause
// Files of several segments, none of which is the CPU's: how they are wired, run, and refused.
#include <sys/mman.h>
#include <unistd.h>

#include "lib/shim/archive_index.h"
#include "tests/shim/session.h"
#include "tests/shim/temporary_files.h"
#include "tests/shim/zip_maker.h"

using namespace nnapi_shim::testing;

namespace {

std::vector<uint8_t> text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

// The archive of these segments, in which segment i has the records data/2i (weights) and data/2i+1 (words).
std::vector<uint8_t> archive_of(const std::vector<Description>& segments, const std::string& index) {
  std::vector<ZipEntry> entries;
  for (const Description& net : segments) {
    const MadeBuffer made = make_buffer(net);
    const std::string number = std::to_string(entries.size()), next = std::to_string(entries.size() + 1);
    entries.push_back({"net/data/" + number, made.weights, 64});
    entries.push_back({"net/data/" + next, bytes_of(made.words)});
  }
  entries.push_back({"net/extra/nnapi_shim.index", text_bytes(index)});
  return make_zip(entries, {});
}

// x -> first -> second -> y; forward gives what both make.
constexpr const char* kIndex = "segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.0\ns1.0 s0.0\n";

class OpenChain {
 public:
  explicit OpenChain(const std::vector<Description>& segments, const std::string& index = kIndex)
      : archive_(archive_of(segments, index)) {
    status_ = nnapi_shim_open_archive(archive_.data(), archive_.size(), &model_, &error_);
  }
  ~OpenChain() { nnapi_shim_close(model_); }
  OpenChain(const OpenChain&) = delete;
  OpenChain& operator=(const OpenChain&) = delete;

  int status() const { return status_; }
  std::string message() const { return error_.message; }
  nnapi_shim_model* model() const { return model_; }
  int configure(const std::string& library) {
    nnapi_shim_options options{};
    options.struct_bytes = sizeof options;
    const std::string path = fake_path(library);
    options.library = path.c_str();
    return nnapi_shim_configure(model_, &options, &error_);
  }
  int run(int64_t rows, std::vector<nnapi_shim_buffer> from, std::vector<nnapi_shim_buffer> to) {
    const int64_t sizes[] = {rows, 64};
    const nnapi_shim_shape shape = {2, sizes};
    return nnapi_shim_run(model_, &shape, 1, from.data(), static_cast<uint32_t>(from.size()), to.data(),
                          static_cast<uint32_t>(to.size()), &error_);
  }

 private:
  const std::vector<uint8_t> archive_;
  nnapi_shim_model* model_ = nullptr;
  nnapi_shim_error error_{};
  int status_ = 0;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Description of_integers() {
  Description net = three_operations();
  for (Operand& operand : net.models[0].operands) operand.type = operand.type == 3 ? 4 : operand.type;
  return net;
}

}  // namespace

TEST_CASE("segments run one after the other, on every level and for each size") {
  for (const std::string library : {"level1", "level3", "level5"}) {
    fake_nnapi::Fake& nnapi = fresh_fake(library);
    {
      OpenChain chain({three_operations(), three_operations()});
      INFO(chain.message());
      REQUIRE(chain.status() == NNAPI_SHIM_OK);
      REQUIRE(chain.configure(library) == NNAPI_SHIM_OK);
      CHECK(nnapi_shim_argument_count(chain.model()) == 1);
      CHECK(nnapi_shim_input_count(chain.model()) == 1);
      CHECK(nnapi_shim_output_count(chain.model()) == 2);
      CHECK(nnapi_shim_feature_level(chain.model()) == 1);
      uint32_t rank = 0;
      int64_t sizes[NNAPI_SHIM_MOST_AXES];
      REQUIRE(nnapi_shim_argument(chain.model(), 0, &rank, sizes, nullptr) == NNAPI_SHIM_OK);
      CHECK(rank == 2);
      CHECK(sizes[1] == 64);
      for (int64_t rows = 1; rows < 4; ++rows) {
        const auto bytes = static_cast<size_t>(rows) * 256;
        for (uint8_t first = 0; first < 3; ++first) {
          std::vector<uint8_t> x(bytes, first), y(bytes), between(bytes);
          const int status = chain.run(rows, {{x.data(), bytes}}, {{y.data(), bytes}, {between.data(), bytes}});
          INFO(chain.message());
          REQUIRE(status == NNAPI_SHIM_OK);
          CHECK(between == std::vector<uint8_t>(bytes, static_cast<uint8_t>(first + 1)));
          CHECK(y == std::vector<uint8_t>(bytes, static_cast<uint8_t>(first + 2)));
        }
      }
      nnapi_shim_profile profile;
      nnapi_shim_get_profile(chain.model(), &profile);
      CHECK(profile.executions == 9);
      CHECK(profile.compiled == 3);
      CHECK(profile.weight_bytes == 2 * make_buffer(three_operations()).weights.size());
    }
    check_all_freed(nnapi);
  }
}

TEST_CASE("what only segments read between them has memory of its own, an argument may be read twice") {
  fresh_fake("level5");
  OpenChain chain({three_operations(), three_operations(), three_operations()},
                  "segments 3\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.0\ndata/5\ndata/4\na0\ns2.0 s1.0\n");
  INFO(chain.message());
  REQUIRE(chain.status() == NNAPI_SHIM_OK);
  REQUIRE(chain.configure("level5") == NNAPI_SHIM_OK);
  std::vector<uint8_t> x(512, 40), a(512), b(512);
  REQUIRE(chain.run(2, {{x.data(), 512}}, {{a.data(), 512}, {b.data(), 512}}) == NNAPI_SHIM_OK);
  CHECK(a == std::vector<uint8_t>(512, 41));
  CHECK(b == std::vector<uint8_t>(512, 42));
}

TEST_CASE("operations of all segments are counted on") {
  fresh_fake("level5");
  OpenChain chain({three_operations(), three_operations()});
  REQUIRE(chain.configure("level5") == NNAPI_SHIM_OK);
  std::vector<uint32_t> numbers;
  const auto visit = [](void* user, uint32_t number, int32_t, const char*, const char*, int32_t is_supported) {
    CHECK(is_supported == 1);
    static_cast<std::vector<uint32_t>*>(user)->push_back(number);
  };
  const int64_t sizes[] = {2, 64};
  const nnapi_shim_shape shape = {2, sizes};
  REQUIRE(nnapi_shim_visit_operations(chain.model(), &shape, 1, nullptr, visit, &numbers, nullptr) == NNAPI_SHIM_OK);
  CHECK(numbers == std::vector<uint32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("outputs in shared memory are read by later segments from there") {
  fake_nnapi::Fake& nnapi = fresh_fake("level5");
  const UnnamedFile file;
  const int fd = file.fd();
  REQUIRE(ftruncate(fd, 4096) == 0);
  auto* memory = static_cast<uint8_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  {
    OpenChain chain({three_operations(), three_operations()});
    REQUIRE(chain.configure("level5") == NNAPI_SHIM_OK);
    nnapi_shim_memory* shared = nullptr;
    REQUIRE(nnapi_shim_share_descriptor(chain.model(), fd, 0, 4096, &shared, nullptr) == NNAPI_SHIM_OK);
    std::vector<uint8_t> x(512, 7), y(512);
    const nnapi_shim_place from = {x.data(), 512, nullptr, 0};
    const nnapi_shim_place to[] = {{y.data(), 512, nullptr, 0}, {nullptr, 512, shared, 1024}};
    const int64_t sizes[] = {2, 64};
    const nnapi_shim_shape shape = {2, sizes};
    nnapi_shim_error error{};
    const int status = nnapi_shim_run_shared(chain.model(), &shape, 1, &from, 1, to, 2, &error);
    INFO(error.message);
    REQUIRE(status == NNAPI_SHIM_OK);
    CHECK(y == std::vector<uint8_t>(512, 9));
    CHECK(std::vector<uint8_t>(memory + 1024, memory + 1536) == std::vector<uint8_t>(512, 8));
    CHECK(nnapi.record().shared_tensors == 2);
    nnapi_shim_memory_free(shared);
  }
  check_all_freed(nnapi);
  munmap(memory, 4096);
}

TEST_CASE("wrong calls of a file of several segments") {
  fresh_fake("level5");
  OpenChain chain({three_operations(), three_operations()});
  REQUIRE(chain.configure("level5") == NNAPI_SHIM_OK);
  std::vector<uint8_t> x(512, 7), y(512), z(512);
  CHECK(chain.run(2, {{x.data(), 512}}, {{y.data(), 512}}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(chain.message() == "1 inputs and 1 outputs were given, the model has 1 inputs and 2 outputs");
  CHECK(chain.run(2, {{x.data(), 512}}, {{y.data(), 512}, {z.data(), 511}}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(chain.message() == "output 1: its buffer has 511 bytes, for arguments of these shapes 512 are needed");
  CHECK(chain.run(2, {{nullptr, 512}}, {{y.data(), 512}, {z.data(), 512}}) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(chain.message() == "input 0: its buffer is null, 512 bytes are needed");
  nnapi_shim_error error{};
  CHECK(nnapi_shim_warm_up(chain.model(), nullptr, 0, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(std::string(error.message) == "the shapes of 0 arguments were given, the model has 1");
  const int64_t sizes[] = {2, 63};
  const nnapi_shim_shape shape = {2, sizes}, no_sizes = {2, nullptr};
  CHECK(nnapi_shim_warm_up(chain.model(), &shape, 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
  CHECK(nnapi_shim_warm_up(chain.model(), &no_sizes, 1, &error) == NNAPI_SHIM_BAD_ARGUMENT);
}

TEST_CASE("segments that do not fit together are refused") {
  fresh_fake("level5");
  const std::vector<Description> two = {three_operations(), three_operations()};
  const std::pair<const char*, const char*> cases[] = {
      {"segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.1\ns1.0\n", "segment 1 of the file reads an output that"},
      {"segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.0\ns1.1\n", "segment 1 of the file has fewer outputs"},
      {"segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.0 a0\ns1.0\n", "segment 1 of the file has other inputs"},
      {"segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/9\ns0.0\ns1.0\n", "no record net/data/9"}};
  for (const auto& [index, message] : cases) {
    const OpenChain chain(two, index);
    CHECK(chain.status() == NNAPI_SHIM_BAD_MODEL);
    INFO(chain.message());
    CHECK(contains(chain.message(), message));
  }
  OpenChain chain({three_operations(), of_integers()});
  REQUIRE(chain.status() == NNAPI_SHIM_OK);
  REQUIRE(chain.configure("level5") == NNAPI_SHIM_OK);
  std::vector<uint8_t> x(512, 7), y(512), z(512);
  CHECK(chain.run(2, {{x.data(), 512}}, {{y.data(), 512}, {z.data(), 512}}) == NNAPI_SHIM_BAD_MODEL);
  CHECK(contains(chain.message(), "segment 1 of the file reads a tensor in another form than it is made in"));
}

TEST_CASE("the index of several segments, and texts that are none") {
  nnapi_shim::ArchiveIndex index;
  REQUIRE(index.parse(kIndex));
  CHECK(index.records.size() == 2);
  CHECK(index.records[1].words == "data/3");
  CHECK(index.wiring.inputs[1][0].segment == 0);
  CHECK(index.wiring.outputs.size() == 2);
  const std::string good = kIndex;
  for (size_t length = 0; length + 1 < good.size(); ++length) {
    nnapi_shim::ArchiveIndex cut;
    // Without the last of the outputs the text is one of fewer outputs.
    const bool is_fewer = length == good.size() - 6 || length == good.size() - 5;
    CHECK(cut.parse(good.substr(0, length)) == is_fewer);
  }
  for (const char* text :
       {"segments 1\n1\ndata/1\ndata/0\na0\ns0.0\n", "segments 65\n1\n", "segments 2\n1\na\nb\na1\nc\nd\ns0.0\ns1.0\n",
        "segments 2\n1\na\nb\ns0.0\nc\nd\ns0.0\ns1.0\n", "segments 2\n1\na\nb\na0\nc\nd\ns1.0\ns1.0\n",
        "segments 2\n1\na\nb\na0\nc\nd\ns0.0\ns1.0 s1.0\n", "segments 2\n1\na\nb\na0\nc\nd\ns0.0\na0\n",
        "segments 2\n1\na\nb\na0\nc\nd\ns0.0\ns1.0\nmore\n", "segments 2\n1\na\nb\na0\nc\nd\ns0.-1\ns1.0\n",
        "segments 2\n1\na\nb\na0\nc\nd\ns0.99999\ns1.0\n", "segments 2\n1\na\nb\n\nc\nd\ns0.0\ns1.0\n", ""}) {
    nnapi_shim::ArchiveIndex other;
    INFO(text);
    CHECK_FALSE(other.parse(text));
  }
}
