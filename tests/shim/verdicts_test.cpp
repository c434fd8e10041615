// SPDX-License-Identifier: BSD-3-Clause
// Which verdicts on devices a later start finds.
#include "lib/shim/verdicts.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tests/shim/temporary_files.h"

using namespace nnapi_shim;

namespace {

class Folder {
 public:
  Folder() : path_(testing::temporary_path("nnapi_verdicts_XXXXXX")) { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  ~Folder() {
    ::unlink((path_ + "/nnapi_shim_model.verdicts").c_str());
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Verdict found_later(const Folder& folder, const char* device) {
  Verdicts verdicts;
  verdicts.open(folder.path(), "model");
  std::string reason;
  return verdicts.find(device, "1", &reason);
}

}  // namespace

TEST_CASE("a suspicion is no verdict until it is confirmed") {
  const Folder folder;
  Verdicts verdicts;
  verdicts.open(folder.path(), "model");
  verdicts.suspect("npu", "1", Verdict::kWrong, "its sums");
  verdicts.set("gpu", "1", Verdict::kGood, "");
  std::string reason;
  CHECK(verdicts.find("npu", "1", &reason) == Verdict::kWrong);
  CHECK(found_later(folder, "gpu") == Verdict::kGood);
  CHECK(found_later(folder, "npu") == Verdict::kUnknown);
  SECTION("confirmed") {
    verdicts.confirm();
    CHECK(found_later(folder, "npu") == Verdict::kWrong);
  }
  SECTION("acquitted") {
    verdicts.acquit();
    CHECK(verdicts.find("npu", "1", &reason) == Verdict::kUnknown);
    verdicts.confirm();
    CHECK(found_later(folder, "npu") == Verdict::kUnknown);
    CHECK(verdicts.find("gpu", "1", &reason) == Verdict::kGood);
  }
}
