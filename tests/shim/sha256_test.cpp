// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 against the examples of FIPS 180-4 (NIST's "Secure Hashing" example values).
#include "lib/shim/sha256.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace {

std::string digest(const std::string& text, size_t piece) {
  nnapi_shim::Sha256 sum;
  for (size_t at = 0; at < text.size(); at += piece) sum.add(text.data() + at, std::min(piece, text.size() - at));
  uint8_t bytes[nnapi_shim::Sha256::kDigestBytes];
  sum.finish(bytes);
  std::string hex;
  for (const uint8_t byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

}  // namespace

// Whole pieces go by the processor's instructions where it has them, single bytes never do.
TEST_CASE("SHA-256 of known texts") {
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (const size_t piece : {1000000u, 1u, 3u, 63u, 64u, 65u}) {
    CHECK(digest("", piece) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest("abc", piece) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest(two_blocks, piece) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(digest(std::string(1000000, 'a'), piece) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST_CASE("SHA-256 does not depend on pieces") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * i % 251);
  for (size_t length = 0; length <= text.size(); length += 37) {
    CHECK(digest(text.substr(0, length), 1000) == digest(text.substr(0, length), 1));
  }
}
