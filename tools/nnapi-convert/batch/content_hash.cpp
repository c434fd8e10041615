// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/batch/content_hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/input_file.h"

namespace nnapi_convert {
namespace {

class Hash {
 public:
  Hash() { NNC_ASSERT(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "no SHA-256 in libcrypto"); }

  void add(const void* data, size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }
  std::string finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
};

}  // namespace

std::string hash_of_file(const std::filesystem::path& path) {
  constexpr size_t kBlock = 1 << 20;
  const auto fail = [&](const std::string& problem) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path.string(), problem));
  };
  InputFile file(path);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail("no such file");
  std::vector<char> block(kBlock);
  Hash hash;
  while (const size_t count = file.read(block.data(), block.size())) hash.add(block.data(), count);
  if (!file.problem().empty()) fail(file.problem());
  return hash.finish();
}

std::string hash_of_text(const std::string& text) {
  Hash hash;
  hash.add(text.data(), text.size());
  return hash.finish();
}

}  // namespace nnapi_convert
