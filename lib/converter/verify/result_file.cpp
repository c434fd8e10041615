// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/result_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace nnapi_convert {
namespace {

const char* numpy_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
      return "<f2";
    case at::kFloat:
      return "<f4";
    case at::kDouble:
      return "<f8";
    case at::kChar:
      return "|i1";
    case at::kByte:
      return "|u1";
    case at::kShort:
      return "<i2";
    case at::kInt:
      return "<i4";
    case at::kLong:
      return "<i8";
    case at::kBool:
      return "|b1";
    default:
      return nullptr;
  }
}

// The head of a .npy file of version 1.0; values begin at a multiple of 64 bytes.
std::string head_of(const char* type, at::IntArrayRef sizes) {
  constexpr size_t kPrefix = 10, kAlignment = 64;
  std::string shape;
  for (const int64_t size : sizes) shape += fmt::format("{}, ", size);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  text.append(kAlignment - (kPrefix + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string head = "\x93NUMPY";
  head += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return head + text;
}

}  // namespace

ResultFile::ResultFile(const std::string& path)
    : pending_(path),
      file_(pending_.path().string()),
      zip_("", [this](const void* data, size_t size) { file_.append(data, size); }) {}

void ResultFile::add(const std::string& name, const at::Tensor& given) {
  // NumPy has no bfloat16 and no tensors without memory: their values are written as float32.
  const at::Tensor known = numpy_type(given.scalar_type()) == nullptr ? given.to(at::kFloat) : given;
  const at::Tensor tensor = known.contiguous();
  const std::string head = head_of(numpy_type(tensor.scalar_type()), tensor.sizes());
  zip_.add(name + ".npy", head.size() + tensor.nbytes(), [&](const nnapi::ByteSink& sink) {
    sink(head.data(), head.size());
    sink(tensor.data_ptr(), tensor.nbytes());
  });
}

void ResultFile::add(const ComparedSample& sample, const std::string& place) {
  const std::string begin = place + sample.place;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    add(fmt::format("{}/inputs/{}", begin, sample.input_names.at(i)), sample.inputs[i]);
  }
  for (size_t i = 0; i < sample.original.size(); ++i) add(fmt::format("{}/original/{}", begin, i), sample.original[i]);
  for (size_t i = 0; i < sample.converted.size(); ++i) {
    add(fmt::format("{}/converted/{}", begin, i), sample.converted[i]);
  }
}

void ResultFile::commit() {
  zip_.finish();
  const std::string reason = file_.finish();
  if (!reason.empty()) fail_to_write(pending_.path().filename(), reason);
  pending_.commit();
}

}  // namespace nnapi_convert
