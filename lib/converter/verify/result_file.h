// SPDX-License-Identifier: BSD-3-Clause
// Writes what original and result gave as NumPy's archive (.npz), whose arrays numpy.load() gives by their names:
//
//   0/inputs/x       the argument x of sample 0
//   0/original/0     the original's first result; tuples, lists and dicts are taken apart in their order
//   0/converted/0    the converted file's
//
// Before the sample's number stands "encode/" of a file of several methods, and "model 2/" of a package's second model.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "lib/base/file.h"
#include "lib/base/output_file.h"
#include "lib/converter/verify/compared_sample.h"
#include "lib/serialize/zip_writer.h"

namespace nnapi_convert {

class ResultFile {
 public:
  // Throws ConvertError (kBadFile) if no file can be made at the path.
  explicit ResultFile(const std::string& path);

  // Adds a sample. `place` stands before the sample's own: "encode/", or nothing.
  void add(const ComparedSample& sample, const std::string& place);
  // Puts the file in its place. Without it no file is left. Throws ConvertError (kBadFile) if it can't be written.
  void commit();

 private:
  void add(const std::string& name, const at::Tensor& tensor);

  PendingFile pending_;
  OutputFile file_;
  ZipWriter zip_;
};

}  // namespace nnapi_convert
