#include "lib/batch/content_hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "lib/base/error.h"

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
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> block(kBlock);
  Hash hash;
  ssize_t count = descriptor < 0 ? -1 : 1;
  while (count > 0) {
    count = ::read(descriptor, block.data(), block.size());
    if (count > 0) hash.add(block.data(), static_cast<size_t>(count));
  }
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (count < 0) {
    const std::string reason = error == ENOENT ? "no such file" : std::strerror(error);
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path.string(), reason));
  }
  return hash.finish();
}

std::string hash_of_text(const std::string& text) {
  Hash hash;
  hash.add(text.data(), text.size());
  return hash.finish();
}

}  // namespace nnapi_convert
