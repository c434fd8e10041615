// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/result_file.h"

#include <fmt/format.h>

#include "lib/serialize/numpy_array.h"

namespace nnapi_convert {
ResultFile::ResultFile(const std::string& path)
    : pending_(path),
      file_(pending_.path().string()),
      zip_("", [this](const void* data, size_t size) { file_.append(data, size); }) {}

void ResultFile::add(const std::string& name, const at::Tensor& tensor) {
  const NumpyArray array = numpy_array(tensor);
  zip_.add(name + ".npy", array.head.size() + array.values.nbytes(), [&](const nnapi::ByteSink& sink) {
    sink(array.head.data(), array.head.size());
    sink(array.values.data_ptr(), array.values.nbytes());
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
