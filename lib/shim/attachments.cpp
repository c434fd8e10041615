// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/attachments.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lib/format/nnapi_codes.h"
#include "lib/shim/failure.h"
#include "lib/shim/json_text.h"
#include "lib/shim/tensor_types.h"

namespace nnapi_shim {
namespace {

bool read_labels(const std::string& text, std::vector<std::string>* labels) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) return false;
    labels->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return text.find('\0') == std::string::npos;
}

bool read_notes(const std::string& text, std::vector<std::pair<std::string, std::string>>* notes) {
  JsonText json(text.data(), text.size());
  const auto read = [&](const char* key) {
    notes->emplace_back(key, std::string());
    return json.string(&notes->back().second);
  };
  return json.object(read) && json.at_end();
}

float element(const nnapi_shim_tensor& tensor, const void* data, size_t index) {
  if (is_float(tensor.type)) {
    float value;
    std::memcpy(&value, static_cast<const uint8_t*>(data) + index * sizeof value, sizeof value);
    return value;
  }
  const uint8_t byte = static_cast<const uint8_t*>(data)[index];
  const bool is_signed = tensor.type == static_cast<int32_t>(nnapi_convert::OperandCode::TENSOR_QUANT8_ASYMM_SIGNED);
  const int32_t number = is_signed ? static_cast<int8_t>(byte) : byte;
  return static_cast<float>(number - tensor.zero_point) * tensor.scale;
}

// Returns whether `b` comes before `a` among the best. NaN comes last.
bool is_better(float b, float a) {
  return b > a || (std::isnan(a) && !std::isnan(b));
}

}  // namespace

int Attachments::read(const AttachedRecords& records, nnapi_shim_error* error) {
  const char* damaged = nullptr;
  has_pictures = !records.pictures.empty();
  if (has_pictures && !nnapi_convert::picture_record::read(records.pictures.data(), records.pictures.size(), &pictures))
    damaged = "pictures";
  if (has_pictures && damaged == nullptr) picture_path = records.pictures.substr(sizeof(PictureRecord));
  if (!read_labels(records.labels, &labels)) damaged = "labels";
  if (!records.notes.empty() && !read_notes(records.notes, &notes)) damaged = "notes";
  if (damaged == nullptr) return NNAPI_SHIM_OK;
  return fail(error, NNAPI_SHIM_BAD_MODEL,
              "the archive's record of %s is damaged, or of a newer version; use a newer runtime, or convert the model "
              "again",
              damaged);
}

size_t find_best(const nnapi_shim_tensor& tensor, const void* data, nnapi_shim_score* best, size_t count) {
  const size_t elements = is_float(tensor.type) ? tensor.bytes / sizeof(float) : tensor.bytes;
  size_t found = 0;
  for (size_t i = 0; i < elements; ++i) {
    const float score = element(tensor, data, i);
    size_t place = found;
    while (place > 0 && is_better(score, best[place - 1].score)) --place;
    if (place == count) continue;
    found = std::min(found + 1, count);
    for (size_t moved = found - 1; moved > place; --moved) best[moved] = best[moved - 1];
    best[place] = {static_cast<uint32_t>(i), score, nullptr};
  }
  return found;
}

}  // namespace nnapi_shim
