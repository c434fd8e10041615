// SPDX-License-Identifier: BSD-3-Clause
// Checks that the library accepts a model, or refuses it with one sentence.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <string>

#include "tests/host_runtime/model_spec.h"

namespace model_spec {

constexpr int kBadData = static_cast<int>(nnapi_convert::ResultCode::BAD_DATA);

// Sets the feature level for models made while this object lives.
struct FeatureLevel {
  explicit FeatureLevel(int level) { setenv("NNAPI_HOST_FEATURE_LEVEL", std::to_string(level).c_str(), 1); }
  ~FeatureLevel() { unsetenv("NNAPI_HOST_FEATURE_LEVEL"); }
  FeatureLevel(const FeatureLevel&) = delete;
  FeatureLevel& operator=(const FeatureLevel&) = delete;
};

inline void refuses(const ModelSpec& spec, const std::string& fragment) {
  const Answer answer = answer_to(spec);
  INFO(answer.sentence);
  CHECK(answer.code == kBadData);
  CHECK(answer.sentence.rfind("neuralnetworks: ", 0) == 0);
  CHECK(answer.sentence.find(fragment) != std::string::npos);
  CHECK(std::count(answer.sentence.begin(), answer.sentence.end(), '\n') == 1);
}

inline void accepts(const ModelSpec& spec) {
  const Answer answer = answer_to(spec);
  INFO(answer.sentence);
  CHECK(answer.code == 0);
  CHECK(answer.sentence.empty());
}

// Checks that the library refuses the spec after one change.
inline void refuses_changed(ModelSpec spec, const std::function<void(ModelSpec&)>& change,
                            const std::string& fragment) {
  change(spec);
  refuses(spec, fragment);
}

}  // namespace model_spec
