// SPDX-License-Identifier: BSD-3-Clause
// Runs a LiteRT file in LiteRT itself: npm's @litertjs/core under Node (docs/litert.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/converter/load/converted_file.h"
#include "lib/converter/verify/verify_inputs.h"

namespace nnapi_convert {

// True if the file begins as LiteRT's do.
bool is_litert(const std::string& path);
// Returns the names of the file's methods; none for a file of one method.
std::vector<std::string> litert_method_names(const std::string& path);

class LitertRunner {
 public:
  // Throws ConvertError: kBadFile for a file that nnapi-convert didn't write or that is damaged, and where Node or the
  // package is missing.
  LitertRunner(const std::string& path, const std::string& method);
  ~LitertRunner();
  LitertRunner(const LitertRunner&) = delete;
  LitertRunner& operator=(const LitertRunner&) = delete;

  const Metadata& metadata() const;
  // Returns forward's tensors for the leaves of its arguments. Throws ConvertError (kVerificationFailed) if LiteRT
  // can't run the file, also for an operator that fails without an error of LiteRT's.
  std::vector<at::Tensor> run(const Values& sample);

 private:
  std::vector<at::Tensor> run_by_record(const Values& sample);

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nnapi_convert
