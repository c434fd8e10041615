// SPDX-License-Identifier: BSD-3-Clause
#include "tests/shim/package_maker.h"

#include <cstring>

#include "lib/format/package_format.h"

namespace nnapi_shim::testing {
namespace {

namespace package = nnapi_convert::package_format;

}  // namespace

MadeBuffer make_package(const std::vector<PackagedNet>& nets) {
  std::string names;
  for (const PackagedNet& each : nets) names += each.name + '\0';
  MadeBuffer made;
  const size_t table = package::kHeaderWords + nets.size() * package::kEntryWords;
  made.words.resize(table + (names.size() + 3) / 4, 0);
  std::memcpy(&made.words[table], names.data(), names.size());
  for (size_t i = 0; i < nets.size(); ++i) {
    const MadeBuffer one = make_buffer(nets[i].net);
    made.weights.resize((made.weights.size() + package::kWindowAlignment - 1) / package::kWindowAlignment *
                        package::kWindowAlignment);
    int32_t* entry = &made.words[package::kHeaderWords + i * package::kEntryWords];
    entry[package::kFirstWord] = static_cast<int32_t>(made.words.size());
    entry[package::kBufferWords] = static_cast<int32_t>(one.words.size());
    entry[package::kWindowLow] = static_cast<int32_t>(made.weights.size());
    entry[package::kWindowBytesLow] = static_cast<int32_t>(one.weights.size());
    made.words.insert(made.words.end(), one.words.begin(), one.words.end());
    made.weights.insert(made.weights.end(), one.weights.begin(), one.weights.end());
  }
  made.words[package::kVersionWord] = package::kVersion;
  made.words[package::kWordCount] = static_cast<int32_t>(made.words.size());
  made.words[package::kVariantCount] = static_cast<int32_t>(nets.size());
  made.words[package::kWeightBytesLow] = static_cast<int32_t>(made.weights.size());
  made.words[package::kTextBytes] = static_cast<int32_t>(names.size());
  seal(made.words);
  return made;
}

}  // namespace nnapi_shim::testing
