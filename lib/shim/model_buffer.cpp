// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/model_buffer.h"

#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/format/crc32.h"
#include "lib/shim/buffer_views.h"
#include "lib/shim/expressions.h"
#include "lib/shim/failure.h"
#include "lib/shim/tensors.h"

namespace nnapi_shim {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "buffers are little-endian");

constexpr int32_t kHighestPreference = 2;
// The bytes of a buffer have to fit into 32 bits.
constexpr size_t kMaxWords = std::numeric_limits<uint32_t>::max() / sizeof(int32_t);

// Checks the header's feature level, preference, flags and size of the weights.
bool check_header(const int32_t* words, uint64_t weight_bytes, nnapi_shim_error* error) {
  if (words[format::kFeatureLevel] < 1) {
    return damaged(error, format::kFeatureLevel, "feature level %d found, at least 1 needed",
                   words[format::kFeatureLevel]);
  }
  if (words[format::kPreference] < 0 || words[format::kPreference] > kHighestPreference) {
    return damaged(error, format::kPreference, "preference %d found, 0 to %d needed", words[format::kPreference],
                   kHighestPreference);
  }
  const auto flags = static_cast<uint32_t>(words[format::kFlags]);
  if ((flags & ~format::kRelaxFp16) != 0) {
    return damaged(error, format::kFlags, "flags %u found, 0 or %u needed", flags, format::kRelaxFp16);
  }
  const uint64_t needed = static_cast<uint32_t>(words[format::kWeightBytesLow]) |
                          uint64_t{static_cast<uint32_t>(words[format::kWeightBytesHigh])} << 32;
  if (needed == weight_bytes) return true;
  return damaged(error, format::kWeightBytesLow, "the buffer goes with %llu bytes of weights, %llu are given",
                 static_cast<unsigned long long>(needed), static_cast<unsigned long long>(weight_bytes));
}

bool check_arguments(const int32_t* words, const BufferLayout& layout, nnapi_shim_error* error) {
  size_t at = layout.arguments;
  for (uint32_t i = 0; i < layout.argument_count; ++i) {
    const auto rank = static_cast<uint32_t>(words[at++]);
    for (uint32_t axis = 0; axis < rank; ++axis, ++at) {
      if (words[at] < 0) {
        return damaged(error, at, "size %d of axis %u of argument %u found, 0 or more needed", words[at], axis, i);
      }
    }
  }
  return true;
}

// Checks that the caller's shapes have the model's ranks and fixed sizes.
int check_shapes(const int32_t* words, const BufferLayout& layout, const nnapi_shim_shape* shapes, uint32_t count,
                 nnapi_shim_error* error) {
  if (count != layout.argument_count || (count != 0 && shapes == nullptr)) {
    return fail(error, NNAPI_SHIM_BAD_ARGUMENT,
                "%u argument shapes given, the model has %u arguments; give one for each",
                shapes == nullptr ? 0 : count, layout.argument_count);
  }
  size_t at = layout.arguments;
  for (uint32_t i = 0; i < count; ++i) {
    const auto rank = static_cast<uint32_t>(words[at++]);
    if (shapes[i].rank != rank || (rank != 0 && shapes[i].sizes == nullptr)) {
      return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "argument %u has rank %u, the model needs rank %u", i,
                  shapes[i].sizes == nullptr ? 0 : shapes[i].rank, rank);
    }
    for (uint32_t axis = 0; axis < rank; ++axis, ++at) {
      const int64_t size = shapes[i].sizes[axis];
      if (size < 1 || size > std::numeric_limits<int32_t>::max()) {
        return fail(error, NNAPI_SHIM_BAD_ARGUMENT, "axis %u of argument %u has size %lld, 1 to 2147483647 needed",
                    axis, i, static_cast<long long>(size));
      }
      if (words[at] == 0 || words[at] == size) continue;
      return fail(
          error, NNAPI_SHIM_BAD_ARGUMENT,
          "axis %u of argument %u has size %lld, the model needs %d; resize the input or convert the model with "
          "a flexible size",
          axis, i, static_cast<long long>(size), words[at]);
    }
  }
  return NNAPI_SHIM_OK;
}

int patch(const BufferLayout& layout, const std::vector<int64_t>& values, const nnapi_shim_shape* arguments,
          std::vector<int32_t>* words, nnapi_shim_error* error) {
  for (uint32_t i = 0; i < layout.patch_count; ++i) {
    const size_t at = layout.patches + i * format::kPatchWords;
    const int64_t value = values[static_cast<uint32_t>((*words)[at + 1])];
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
      return fail(
          error, NNAPI_SHIM_BAD_ARGUMENT,
          "a size of the model becomes %lld for arguments of sizes %s, which is more than 32 bits hold; use other "
          "sizes",
          static_cast<long long>(value), ShapesText(arguments, layout.argument_count).text);
    }
    (*words)[static_cast<uint32_t>((*words)[at])] = static_cast<int32_t>(value);
  }
  return NNAPI_SHIM_OK;
}

// An operand's name for error sentences: cut, with a space before it; empty if names were stripped.
struct Name {
  explicit Name(const OperandView& operand) : text() {
    if (operand.name[0] != 0) std::snprintf(text, sizeof text, " %s", operand.name);
  }
  char text[64];
};

// Makes the checks that need all sizes.
class BoundChecker {
 public:
  BoundChecker(const ModelView& view, const nnapi_shim_shape* arguments, uint32_t count, nnapi_shim_error* error)
      : view_(view), arguments_(arguments), count_(count), error_(error) {}

  int check() const {
    for (const BoundaryView& input : view_.models[0].inputs) {
      if (const int status = check_input(input, view_.models[0].operands[input.operand])) return status;
    }
    for (size_t model = 0; model < view_.models.size(); ++model) {
      const SubgraphView& subgraph = view_.models[model];
      for (uint32_t i = 0; i < subgraph.operands.size(); ++i) {
        if (const int status = check_operand(model, i, subgraph.operands[i])) return status;
      }
      for (const ValueView& value : subgraph.values) {
        if (const int status = check_value(model, value, subgraph.operands[value.operand])) return status;
      }
    }
    return NNAPI_SHIM_OK;
  }

 private:
  // Checks sizes of an argument that follow from others.
  int check_input(const BoundaryView& input, const OperandView& operand) const {
    const auto number = static_cast<uint32_t>(input.argument);
    if (input.argument < 0 || number >= count_ || arguments_[number].rank != operand.rank) return NNAPI_SHIM_OK;
    for (uint32_t axis = 0; axis < operand.rank; ++axis) {
      const bool is_nhwc = input.layout == format::Layout::kNhwc && operand.rank == 4;
      const uint32_t place = !is_nhwc || axis == 0 ? axis : axis == 1 ? 3 : axis - 1;
      const int64_t found = arguments_[number].sizes[axis];
      if (found == static_cast<int64_t>(operand.dims[place])) continue;
      return fail(error_, NNAPI_SHIM_BAD_ARGUMENT,
                  "axis %u of argument %u has size %lld, %u needed: it follows from other sizes of %s", axis, number,
                  static_cast<long long>(found), operand.dims[place], ShapesText(arguments_, count_).text);
    }
    return NNAPI_SHIM_OK;
  }

  int check_operand(size_t model, uint32_t number, const OperandView& operand) const {
    for (uint32_t axis = 0; axis < operand.rank; ++axis) {
      const auto size = static_cast<int32_t>(operand.dims[axis]);
      if (size > 0) continue;
      return fail(error_, NNAPI_SHIM_BAD_ARGUMENT,
                  "dimension %u of operand %u%s of model %zu becomes %d for arguments of sizes %s, at least 1 needed; "
                  "use larger inputs",
                  axis, number, Name(operand).text, model, size, ShapesText(arguments_, count_).text);
    }
    uint64_t bytes = 0;
    if (operand_bytes(operand, &bytes)) return NNAPI_SHIM_OK;
    return fail(
        error_, NNAPI_SHIM_BAD_ARGUMENT,
        "operand %u%s of model %zu has 4 GiB or more for arguments of sizes %s, less needed; use smaller inputs",
        number, Name(operand).text, model, ShapesText(arguments_, count_).text);
  }

  int check_value(size_t model, const ValueView& value, const OperandView& operand) const {
    // A value of float16 or int8 weights was compared with its operand when the buffer was read: both are fixed.
    const bool has_bytes =
        value.source == format::ValueSource::kImmediate || value.source == format::ValueSource::kWeight;
    uint64_t bytes = 0;
    if (!has_bytes || (operand_bytes(operand, &bytes) && bytes == value.length)) return NNAPI_SHIM_OK;
    return fail(
        error_, NNAPI_SHIM_BAD_ARGUMENT,
        "the value of operand %u%s of model %zu has %llu bytes, and the operand %llu for arguments of sizes %s; "
        "use other sizes",
        value.operand, Name(operand).text, model, static_cast<unsigned long long>(value.length),
        static_cast<unsigned long long>(bytes), ShapesText(arguments_, count_).text);
  }

  const ModelView& view_;
  const nnapi_shim_shape* arguments_;
  uint32_t count_;
  nnapi_shim_error* error_;
};

}  // namespace

std::unique_ptr<const ModelBuffer> ModelBuffer::parse(const void* words, size_t word_count, uint64_t weight_bytes,
                                                      nnapi_shim_error* error) {
  if (words == nullptr) word_count = 0;
  if (word_count > kMaxWords) {
    damaged(error, kMaxWords, "the buffer has %zu words, at most %zu needed", word_count, kMaxWords);
    return nullptr;
  }
  std::vector<int32_t> copy(word_count);
  if (word_count != 0) std::memcpy(copy.data(), words, word_count * sizeof(int32_t));
  std::unique_ptr<ModelBuffer> buffer(new ModelBuffer);
  if (!buffer->take(std::move(copy), weight_bytes, error)) return nullptr;
  return buffer;
}

std::vector<int64_t> ModelBuffer::argument_sizes(uint32_t argument) const {
  const int32_t* rank = words_->data() + layout_.arguments;
  while (argument-- > 0) rank += 1 + *rank;
  return {rank + 1, rank + 1 + *rank};
}

bool ModelBuffer::take(std::vector<int32_t> words, uint64_t weight_bytes, nnapi_shim_error* error) {
  words_ = std::make_shared<const std::vector<int32_t>>(std::move(words));
  weight_bytes_ = weight_bytes;
  const int32_t* data = words_->data();
  if (!find_layout(data, words_->size(), &layout_, error) || !check_header(data, weight_bytes, error) ||
      !check_arguments(data, layout_, error) || !check_expressions(data, layout_, error) ||
      !check_conditions(data, layout_, error)) {
    return false;
  }
  ModelView view;
  view.words = words_;
  fill_models(layout_, &view);
  if (!check_models(layout_, view, weight_bytes, error)) return false;
  const SubgraphView& main = view.models[0];
  for (const BoundaryView& input : main.inputs) {
    input_types_.push_back(main.operands[input.operand].type);
    input_arguments_.push_back(input.argument);
  }
  for (const BoundaryView& output : main.outputs) output_types_.push_back(main.operands[output.operand].type);
  return true;
}

int ModelBuffer::bind(const nnapi_shim_shape* arguments, uint32_t argument_count, ModelView* view,
                      nnapi_shim_error* error) const {
  const int32_t* words = words_->data();
  if (const int status = check_shapes(words, layout_, arguments, argument_count, error)) return status;
  ModelView bound;
  bound.words = words_;
  if (is_flexible() || !layout_.conditions.empty()) {
    std::vector<int64_t> values;
    std::vector<int32_t> patched = *words_;
    if (const int status = evaluate_expressions(words, layout_, arguments, &values, error)) return status;
    if (const int status = test_conditions(words, layout_, values, error)) return status;
    if (const int status = patch(layout_, values, arguments, &patched, error)) return status;
    bound.words = std::make_shared<const std::vector<int32_t>>(std::move(patched));
  }
  bound.feature_level = feature_level();
  bound.preference = words[format::kPreference];
  bound.relax_fp16 = (static_cast<uint32_t>(words[format::kFlags]) & format::kRelaxFp16) != 0;
  fill_models(layout_, &bound);
  const BoundChecker checker(bound, arguments, argument_count, error);
  if (const int status = checker.check()) return status;
  *view = std::move(bound);
  return NNAPI_SHIM_OK;
}

bool ModelBuffer::weights_match(const void* weights) const {
  const uint32_t sum = nnapi_convert::crc32(weights, static_cast<size_t>(weight_bytes_));
  return sum == static_cast<uint32_t>((*words_)[format::kWeightChecksum]);
}

int ModelBuffer::read_sample(size_t number, Sample* sample, nnapi_shim_error* error) const {
  SampleReader reader(words_->data(), layout_, number, error);
  int status = reader.read_shapes(sample);
  if (status != NNAPI_SHIM_OK) return status;
  ModelView view;
  nnapi_shim_error problem{};
  const std::vector<nnapi_shim_shape> shapes = sample->shapes();
  status = bind(shapes.data(), static_cast<uint32_t>(shapes.size()), &view, &problem);
  if (status != NNAPI_SHIM_OK) {
    damaged(error, layout_.samples[number], "sample %zu: %.180s", number, problem.message);
    return NNAPI_SHIM_BAD_MODEL;
  }
  const SubgraphView& main = view.models[0];
  status = describe_tensors(main, main.inputs, &sample->input_tensors, error);
  if (status == NNAPI_SHIM_OK) status = describe_tensors(main, main.outputs, &sample->output_tensors, error);
  return status == NNAPI_SHIM_OK ? reader.read_tensors(sample) : status;
}

uint32_t ModelBuffer::feature_level() const {
  return static_cast<uint32_t>((*words_)[format::kFeatureLevel]);
}

}  // namespace nnapi_shim
