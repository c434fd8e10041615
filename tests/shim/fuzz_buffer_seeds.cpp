// SPDX-License-Identifier: BSD-3-Clause
// Writes inputs from which the fuzzer of the shim's buffers starts: fuzz_buffer_seeds FOLDER.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/nnapi_shim.h"
#include "tests/shim/buffer_maker.h"
#include "tests/shim/fuzz_picture.h"
#include "tests/shim/package_maker.h"
#include "tests/shim/three_operations.h"
#include "tests/shim/zip_maker.h"

namespace {

using namespace nnapi_shim::testing;
using Bytes = std::vector<uint8_t>;

// The first bytes of inputs, as fuzz_buffer.cpp tells them apart.
constexpr uint8_t kBuffer = 0, kArchive = 1, kPackage = 2, kRules = 3, kPicture = 4;

void write(const std::filesystem::path& folder, const char* name, uint8_t kind, const Bytes& bytes) {
  std::ofstream file(folder / name, std::ios::binary);
  file.put(static_cast<char>(kind));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes archive_of(const MadeBuffer& made, bool is_64) {
  const std::string index = "data/1\ndata/0\n";
  std::vector<ZipEntry> entries = {{"n/data/0", made.weights, 64},
                                   {"n/data/1", bytes_of(made.words)},
                                   {"n/extra/nnapi_shim.index", Bytes(index.begin(), index.end())}};
  ZipOptions options;
  options.end_64 = is_64;
  for (ZipEntry& entry : entries) entry.is_64 = is_64;
  return make_zip(entries, options);
}

// The same net twice, one after the other.
Bytes archive_of_segments(const MadeBuffer& made) {
  const std::string index = "segments 2\n1\ndata/1\ndata/0\na0\ndata/3\ndata/2\ns0.0\ns1.0 s0.0\n";
  return make_zip({{"n/data/0", made.weights, 64},
                   {"n/data/1", bytes_of(made.words)},
                   {"n/data/2", made.weights, 64},
                   {"n/data/3", bytes_of(made.words)},
                   {"n/extra/nnapi_shim.index", Bytes(index.begin(), index.end())}},
                  {});
}

Bytes bytes_of(const PictureBytes& picture) {
  Bytes bytes(sizeof picture);
  std::memcpy(bytes.data(), &picture, sizeof picture);
  return bytes;
}

// 20 x 12 pixels, of which the middle becomes 6 x 6 floats.
PictureBytes picture_of_rgb() {
  PictureBytes picture{};
  picture.record.resize = 8;
  picture.record.crop = 6;
  picture.record.height = picture.record.width = 6;
  picture.pixels = NNAPI_SHIM_RGB;
  picture.width = 20;
  picture.height = 12;
  picture.plane_bytes[0] = 20 * 12 * 3;
  picture.type = static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_FLOAT32);
  picture.rank = 4;
  picture.sizes[0] = 1;
  picture.sizes[1] = 3;
  picture.sizes[2] = picture.sizes[3] = 6;
  picture.bytes = 3 * 6 * 6 * sizeof(float);
  return picture;
}

// A camera's, turned, of which a part becomes 5 x 4 integers.
PictureBytes picture_of_yuv() {
  PictureBytes picture{};
  picture.record.height = 4;
  picture.record.width = 5;
  picture.pixels = NNAPI_SHIM_YUV_420;
  picture.width = 17;
  picture.height = 11;
  picture.plane_bytes[0] = 32 * 11;
  picture.plane_bytes[1] = picture.plane_bytes[2] = 32 * 6;
  picture.row_bytes[0] = picture.row_bytes[1] = picture.row_bytes[2] = 32;
  picture.pixel_bytes[1] = picture.pixel_bytes[2] = 2;
  picture.cut_left = 1;
  picture.cut_top = 2;
  picture.cut_width = 9;
  picture.cut_height = 7;
  picture.rotation = 90;
  picture.is_mirrored = 1;
  picture.type = static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_QUANT8_ASYMM);
  picture.rank = 4;
  picture.sizes[0] = 1;
  picture.sizes[1] = 4;
  picture.sizes[2] = 5;
  picture.sizes[3] = 3;
  picture.is_nhwc = 1;
  picture.scale = 0.02F;
  picture.zero_point = 3;
  picture.bytes = 4 * 5 * 3;
  return picture;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "fuzz_buffer_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  Description stripped = full_net();
  stripped.stripped = true;
  write(folder, "add", kBuffer, bytes_of(make_buffer(add_net()).words));
  write(folder, "full", kBuffer, bytes_of(make_buffer(full_net()).words));
  write(folder, "conditional", kBuffer, bytes_of(make_buffer(conditional_net()).words));
  write(folder, "stripped", kBuffer, bytes_of(make_buffer(stripped).words));
  write(folder, "float16", kBuffer, bytes_of(make_buffer(three_operations_float16()).words));
  write(folder, "int8", kBuffer, bytes_of(make_buffer(three_operations_int8()).words));
  Description sampled = add_net();
  sampled.samples = {
      joined({{2, 3}, uniform_input(7, -1.0f, 1.0f), float_output({0, 1, 2, 3, 4, 5}, 0.01f)}),
      joined({{2, 3}, stored_input(Bytes(24, 1)), float_output({0, 1, 2, 3, 4, 5}, 0.01f, 2)}),
  };
  write(folder, "sampled", kBuffer, bytes_of(make_buffer(sampled).words));
  write(folder, "package", kPackage, bytes_of(make_package({{"a", add_net()}, {"b", sampled}}).words));
  write(folder, "archive", kArchive, archive_of(make_buffer(add_net()), false));
  write(folder, "segments", kArchive, archive_of_segments(make_buffer(three_operations())));
  write(folder, "archive_64", kArchive, archive_of(make_buffer(full_net()), true));
  const std::string rules =
      R"({"version": 1, "rules": [{"device": "qti-d*", "driver": "*", "from": "1", "before": "2.10", "operations": ["ADD"],)"
      R"("types": ["TENSOR_FLOAT32"], "elements": 12, "after": ["INPUT", "MUL"], "reason": "\u0041"}]})";
  PictureBytes of_bytes = picture_of_yuv();
  of_bytes.record.flags = nnapi_convert::picture_record::kBytes;
  write(folder, "picture_rgb", kPicture, bytes_of(picture_of_rgb()));
  write(folder, "picture_yuv", kPicture, bytes_of(picture_of_yuv()));
  write(folder, "picture_bytes", kPicture, bytes_of(of_bytes));
  write(folder, "rules", kRules, Bytes(rules.begin(), rules.end()));
  return 0;
}
