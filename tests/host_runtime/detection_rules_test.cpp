// SPDX-License-Identifier: BSD-3-Clause
// Tests the refusals of the detection operations, at building and at running a model, and shapes known only at run
// time.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/host_runtime/model_checks.h"
#include "tests/host_runtime/model_spec.h"
#include "tests/host_runtime/stderr_capture.h"

using namespace model_spec;

namespace {

const OperandCode kFloat = OperandCode::TENSOR_FLOAT32;
const OperandCode kHalf = OperandCode::TENSOR_FLOAT16;
const OperandCode kCodes = OperandCode::TENSOR_QUANT8_ASYMM;
const OperandCode kSigned = OperandCode::TENSOR_QUANT8_ASYMM_SIGNED;
const OperandCode kBoxes = OperandCode::TENSOR_QUANT16_ASYMM;
const OperandCode kInts = OperandCode::TENSOR_INT32;

OperandSpec boxes(std::vector<uint32_t> dims) {
  return tensor(kBoxes, std::move(dims), 0.125f);
}

// One operation; the first `model_inputs` operands are the model's inputs, the operands after the arguments its
// outputs.
ModelSpec operation(OperationCode code, const std::vector<OperandSpec>& arguments, std::size_t model_inputs,
                    const std::vector<OperandSpec>& results) {
  ModelSpec spec;
  OperationSpec only;
  only.code = code;
  for (const OperandSpec& argument : arguments) only.inputs.push_back(spec.add(argument));
  for (const OperandSpec& result : results) only.outputs.push_back(spec.add(result));
  spec.inputs.assign(only.inputs.begin(), only.inputs.begin() + static_cast<std::ptrdiff_t>(model_inputs));
  spec.outputs = only.outputs;
  spec.operations = {only};
  return spec;
}

ModelSpec roi_align(OperandCode type = kFloat) {
  const bool quantised = type != kFloat;
  return operation(
      OperationCode::ROI_ALIGN,
      {tensor(type, {2, 4, 6, 3}, quantised ? 0.5f : 0), quantised ? boxes({5, 4}) : tensor(kFloat, {5, 4}),
       tensor(kInts, {5}), int32(2), int32(3), float32(2), float32(2), int32(0), int32(4), boolean(false)},
      3, {tensor(type, {5, 2, 3, 3}, quantised ? 0.25f : 0)});
}

ModelSpec roi_pooling(OperandCode type = kFloat) {
  ModelSpec spec = roi_align(type);
  OperationSpec& pooling = spec.operations[0];
  pooling.code = OperationCode::ROI_POOLING;
  pooling.inputs.erase(pooling.inputs.begin() + 7, pooling.inputs.begin() + 9);
  return spec;
}

ModelSpec box_with_nms_limit() {
  return operation(OperationCode::BOX_WITH_NMS_LIMIT,
                   {tensor(kFloat, {6, 3}), tensor(kFloat, {6, 12}), tensor(kInts, {6}), float32(0.1f), int32(-1),
                    int32(0), float32(0.5f), float32(1), float32(0.1f)},
                   3, {tensor(kFloat, {0}), tensor(kFloat, {0, 4}), tensor(kInts, {0}), tensor(kInts, {0})});
}

ModelSpec generate_proposals() {
  return operation(OperationCode::GENERATE_PROPOSALS,
                   {tensor(kCodes, {1, 2, 2, 3}, 0.5f), tensor(kCodes, {1, 2, 2, 12}, 0.1f, 128),
                    tensor(OperandCode::TENSOR_QUANT16_SYMM, {3, 4}, 0.125f), boxes({1, 2}), float32(4), float32(4),
                    int32(-1), int32(-1), float32(0.5f), float32(1), boolean(false)},
                   4, {tensor(kCodes, {0}, 0.5f), boxes({0, 4}), tensor(kInts, {0})});
}

ModelSpec detection_postprocessing() {
  return operation(
      OperationCode::DETECTION_POSTPROCESSING,
      {tensor(kFloat, {1, 6, 3}), tensor(kFloat, {1, 6, 4}), tensor(kFloat, {6, 4}), float32(10), float32(10),
       float32(5), float32(5), boolean(true), int32(3), int32(1), int32(2), float32(0), float32(0.5f), boolean(false)},
      3, {tensor(kFloat, {1, 3}), tensor(kFloat, {1, 3, 4}), tensor(kInts, {1, 3}), tensor(kInts, {1})});
}

ModelSpec bbox_transform() {
  return operation(OperationCode::AXIS_ALIGNED_BBOX_TRANSFORM,
                   {boxes({5, 4}), tensor(kCodes, {5, 8}, 0.1f), tensor(kInts, {5}), boxes({2, 2})}, 4,
                   {boxes({5, 8})});
}

ModelSpec heatmap_max_keypoint() {
  return operation(OperationCode::HEATMAP_MAX_KEYPOINT,
                   {tensor(kCodes, {2, 6, 6, 3}, 0.5f), boxes({2, 4}), boolean(false)}, 2,
                   {tensor(kCodes, {2, 3}, 0.25f), boxes({2, 3, 2})});
}

ModelSpec with(ModelSpec spec, std::size_t operand, const OperandSpec& other) {
  spec.operands[operand] = other;
  return spec;
}

ModelSpec with_dims(ModelSpec spec, std::size_t operand, std::vector<uint32_t> dims) {
  spec.operands[operand].dims = std::move(dims);
  return spec;
}

ModelSpec with_scale(ModelSpec spec, std::size_t operand, float scale, int32_t zero_point = 0) {
  spec.operands[operand].scale = scale;
  spec.operands[operand].zero_point = zero_point;
  return spec;
}

void needs_level(const ModelSpec& spec, int level, const std::string& fragment) {
  accepts(spec);
  const FeatureLevel below(level - 1);
  refuses(spec, fragment);
}

// The answer of a computation, with the output buffers' bytes.
struct Run {
  int code = 0;
  std::string sentence;
  std::vector<std::vector<uint8_t>> outputs;
  std::vector<std::vector<uint32_t>> dims;
};

Run run(const ModelSpec& spec, const std::vector<std::vector<uint8_t>>& inputs,
        const std::vector<std::size_t>& output_bytes) {
  const Compiled compiled(spec);
  const Execution execution = new_execution(compiled);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), static_cast<int32_t>(i), nullptr, inputs[i].data(),
                                              inputs[i].size()) == 0);
  }
  Run result;
  for (const std::size_t bytes : output_bytes) result.outputs.emplace_back(bytes);
  for (std::size_t i = 0; i < output_bytes.size(); ++i) {
    REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), static_cast<int32_t>(i), nullptr,
                                               result.outputs[i].data(), output_bytes[i]) == 0);
  }
  StderrCapture capture;
  result.code = ANeuralNetworksExecution_compute(execution.get());
  for (std::size_t i = 0; i < output_bytes.size(); ++i) {
    uint32_t rank = 0;
    ANeuralNetworksExecution_getOutputOperandRank(execution.get(), static_cast<int32_t>(i), &rank);
    result.dims.emplace_back(rank);
    ANeuralNetworksExecution_getOutputOperandDimensions(execution.get(), static_cast<int32_t>(i),
                                                        result.dims.back().data());
  }
  result.sentence = capture.text();
  return result;
}

std::vector<uint8_t> zeros(std::size_t bytes) {
  return std::vector<uint8_t>(bytes);
}

template <typename T>
std::vector<T> values_of(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void fails(const Run& run, const std::string& fragment) {
  INFO(run.sentence);
  CHECK(run.code != 0);
  CHECK(run.sentence.find(fragment) != std::string::npos);
}

}  // namespace

TEST_CASE("regions of interest", "[model]") {
  accepts(roi_align());
  accepts(roi_align(kCodes));
  accepts(roi_pooling());
  refuses(with(roi_align(), 3, int32(0)),
          "operation 0 (ROI_ALIGN), argument output_height: 0 found, at least 1 needed");
  refuses(with(roi_align(), 6, float32(0)), "argument width_ratio: 0 found, more than 0 needed");
  refuses(with(roi_align(), 7, int32(-1)), "argument height_samples: -1 found, at least 0 needed");
  refuses(with_dims(roi_align(), 1, {5, 5}), "argument rois: dimensions [5, 5] found, [?, 4] needed");
  refuses(with_dims(roi_align(), 2, {4}), "argument batches: dimensions [4] found, [5] needed");
  refuses(with(roi_align(), 9, boolean(true)), "argument output: dimensions [5, 2, 3, 3] found, [5, 4, 2, 3] needed");
  refuses(with_scale(roi_align(kCodes), 1, 0.25f), "argument rois: scale 0.25, zero point 0 found, 0.125, 0 needed");
  refuses(with(roi_align(kCodes), 1, tensor(kFloat, {5, 4})),
          "argument rois: TENSOR_FLOAT32 found, TENSOR_QUANT16_ASYMM needed");
  // Averages may have another scale, greatest values not.
  refuses(roi_pooling(kCodes), "argument output: scale 0.25, zero point 0 found, those of input needed: 0.5, 0");
  needs_level(roi_align(kCodes), 3, "needs feature level 3, 2 is offered");
  needs_level(roi_align(kSigned), 4, "needs feature level 4, 3 is offered");
}

TEST_CASE("boxes from deltas", "[model]") {
  accepts(bbox_transform());
  accepts(generate_proposals());
  refuses(with_dims(bbox_transform(), 1, {5, 6}), "argument deltas: 6 columns found, a multiple of 4 needed");
  refuses(with_dims(bbox_transform(), 1, {4, 8}), "argument deltas: dimensions [4, 8] found, [5, ?] needed");
  refuses(with_dims(bbox_transform(), 3, {2, 3}), "argument image_sizes: dimensions [2, 3] found, [?, 2] needed");
  refuses(with_scale(bbox_transform(), 4, 0.125f, 1),
          "argument output: scale 0.125, zero point 1 found, 0.125, 0 needed");
  refuses(with_scale(generate_proposals(), 2, 0.25f),
          "argument anchors: scale 0.25, zero point 0 found, 0.125, 0 needed");
  refuses(with_dims(generate_proposals(), 2, {2, 4}), "argument anchors: dimensions [2, 4] found, [3, 4] needed");
  refuses(with_dims(generate_proposals(), 1, {1, 2, 2, 9}),
          "argument deltas: dimensions [1, 2, 2, 9] found, [1, 2, 2, 12] needed");
  refuses(with_dims(generate_proposals(), 3, {2, 2}), "argument image_sizes: dimensions [2, 2] found, [1, 2] needed");
  refuses(with_scale(generate_proposals(), 11, 1),
          "argument output_scores: scale 1, zero point 0 found, those of scores needed: 0.5, 0");
  refuses(with_dims(generate_proposals(), 12, {0, 5}), "argument output_rois: dimensions [?, 5] found, [?, 4] needed");
  refuses(with(generate_proposals(), 8, float32(std::nanf(""))), "argument iou_threshold: NaN found");
}

TEST_CASE("boxes to report", "[model]") {
  accepts(box_with_nms_limit());
  accepts(detection_postprocessing());
  refuses(with(box_with_nms_limit(), 5, int32(3)),
          "argument nms_kernel: 3 found, 0 (hard), 1 (linear) or 2 (Gaussian) needed");
  refuses(with_dims(box_with_nms_limit(), 1, {6, 8}), "argument rois: dimensions [6, 8] found, [6, 12] needed");
  refuses(with_dims(box_with_nms_limit(), 0, {6, 1}),
          "argument scores: 1 classes found, at least 2 needed with the background");
  refuses(with_dims(box_with_nms_limit(), 2, {5}), "argument batches: dimensions [5] found, [6] needed");
  refuses(with(detection_postprocessing(), 5, float32(0)), "argument scale_h: 0 found, more than 0 needed");
  refuses(with(detection_postprocessing(), 12, float32(-0.5f)),
          "argument iou_threshold: -0.5 found, at least 0 needed");
  refuses(with(detection_postprocessing(), 8, int32(0)), "argument max_detections: 0 found, at least 1 needed");
  refuses(with(detection_postprocessing(), 10, int32(0)),
          "argument max_detections_per_class: 0 found, at least 1 needed");
  refuses(with_dims(detection_postprocessing(), 1, {1, 6, 3}), "argument deltas: 3 columns found, at least 4 needed");
  refuses(with_dims(detection_postprocessing(), 2, {5, 4}), "argument anchors: dimensions [5, 4] found, [6, 4] needed");
  refuses(with(with(detection_postprocessing(), 7, boolean(false)), 9, int32(2)),
          "argument output_scores: dimensions [1, 3] found, [1, 6] needed");
}

TEST_CASE("heatmaps", "[model]") {
  accepts(heatmap_max_keypoint());
  refuses(with_dims(heatmap_max_keypoint(), 0, {2, 6, 5, 3}),
          "argument heatmaps: height 6 and width 5 found, equal ones of at least 2 needed");
  refuses(with_dims(heatmap_max_keypoint(), 0, {2, 1, 1, 3}), "argument heatmaps: height 1 and width 1 found");
  refuses(with_dims(heatmap_max_keypoint(), 1, {3, 4}), "argument boxes: dimensions [3, 4] found, [2, 4] needed");
  refuses(with_scale(heatmap_max_keypoint(), 4, 1),
          "argument output_keypoints: scale 1, zero point 0 found, 0.125, 0 needed");
}

TEST_CASE("boxes that a run refuses", "[execution]") {
  const auto floats = [](const std::vector<float>& values) { return bytes_of(values); };
  ModelSpec spec = roi_align();
  spec.operands[0].dims = {1, 4, 4, 1};
  spec.operands[1].dims = {1, 4};
  spec.operands[2].dims = {1};
  spec.operands[10].dims = {1, 2, 3, 1};
  const auto answer = [&](const std::vector<float>& box, int32_t batch) {
    return run(spec, {zeros(64), floats(box), bytes_of(std::vector<int32_t>{batch})}, {24});
  };
  CHECK(answer({0, 0, 8, 8}, 0).code == 0);
  fails(answer({4, 0, 3, 8}, 0), "argument rois: box 0 is [4, 0, 3, 8], x1 <= x2 and y1 <= y2 needed");
  fails(answer({0, 0, 8, 8}, 1), "argument batches: index 1 found, 0 to 0 needed");
  fails(answer({0, 0, 8, 9}, 0), "argument rois: box 0 covers cells 0 to 4.5 of the map's height, 0 to 4 needed");
  fails(answer({-2, 0, 8, 8}, 0), "argument rois: box 0 covers cells -1 to 4 of the map's width, 0 to 4 needed");
  fails(answer({0, 0, std::nanf(""), 8}, 0), "argument rois: box 0 is [0, 0, nan, 8]");
}

TEST_CASE("detections of unknown number", "[execution]") {
  // Three boxes; the second overlaps with the first.
  const std::vector<float> scores = {0, 0.9f, 0, 0.8f, 0, 0.3f};
  std::vector<float> rois;
  for (const float left : {0.0f, 1.0f, 40.0f}) {
    for (int copy = 0; copy < 2; ++copy) rois.insert(rois.end(), {left, 0, left + 10, 10});
  }
  ModelSpec spec = box_with_nms_limit();
  spec.operands[0].dims = {3, 2};
  spec.operands[1].dims = {3, 8};
  spec.operands[2].dims = {3};
  const auto answer = [&](const std::vector<std::size_t>& output_bytes) {
    return run(spec, {bytes_of(scores), bytes_of(rois), bytes_of(std::vector<int32_t>{7, 7, 7})}, output_bytes);
  };
  SECTION("buffers larger than needed") {
    const Run result = answer({12, 48, 12, 12});
    REQUIRE(result.code == 0);
    CHECK(result.dims == std::vector<std::vector<uint32_t>>{{2}, {2, 4}, {2}, {2}});
    CHECK(values_of<float>(result.outputs[0]) == std::vector<float>{0.9f, 0.3f, 0});
    CHECK(values_of<float>(result.outputs[1])[4] == 40);
    CHECK(values_of<int32_t>(result.outputs[2]) == std::vector<int32_t>{1, 1, 0});
    CHECK(values_of<int32_t>(result.outputs[3]) == std::vector<int32_t>{7, 7, 0});
  }
  SECTION("a buffer too small tells what is needed") {
    const Run result = answer({4, 48, 12, 12});
    CHECK(result.code == static_cast<int>(nnapi_convert::ResultCode::OUTPUT_INSUFFICIENT_SIZE));
    CHECK(result.dims[0] == std::vector<uint32_t>{2});
  }
  SECTION("declared extents have to agree") {
    spec.operands[9].dims = {3};
    fails(answer({12, 48, 12, 12}), "argument output_scores: dimensions [3] found, [2] needed");
  }
  SECTION("a limit") {
    spec.operands[4] = int32(1);
    CHECK(answer({12, 48, 12, 12}).dims[0] == std::vector<uint32_t>{1});
  }
  SECTION("a soft kernel keeps more") {
    spec.operands[5] = int32(1);
    CHECK(answer({12, 48, 12, 12}).dims[0] == std::vector<uint32_t>{3});
  }
  SECTION("none at all") {
    spec.operands[3] = float32(1);
    const Run result = answer({12, 48, 12, 12});
    REQUIRE(result.code == 0);
    CHECK(result.dims == std::vector<std::vector<uint32_t>>{{0}, {0, 4}, {0}, {0}});
  }
  SECTION("an operation after it takes the number") {
    ModelSpec longer = spec;
    const uint32_t relu = longer.add(tensor(kFloat, {0}));
    longer.operations.push_back({OperationCode::RELU, {9}, {relu}});
    longer.outputs = {relu};
    const Run result = run(longer, {bytes_of(scores), bytes_of(rois), bytes_of(std::vector<int32_t>{7, 7, 7})}, {12});
    REQUIRE(result.code == 0);
    CHECK(result.dims[0] == std::vector<uint32_t>{2});
  }
}

TEST_CASE("scores that are not numbers come last", "[execution]") {
  ModelSpec spec = detection_postprocessing();
  spec.operands[0].dims = {1, 2, 4};
  spec.operands[1].dims = {1, 2, 4};
  spec.operands[2].dims = {2, 4};
  spec.operands[7] = boolean(false);
  spec.operands[8] = int32(2);
  spec.operands[9] = int32(3);
  spec.operands[14].dims = spec.operands[16].dims = {1, 6};
  spec.operands[15].dims = {1, 6, 4};
  const float nan = std::nanf("");
  const Run result = run(spec,
                         {bytes_of(std::vector<float>{0, 0.5f, nan, 0.25f, 0, 0.1f, 0.2f, 0.3f}), zeros(32),
                          bytes_of(std::vector<float>{0, 0, 2, 2, 9, 9, 2, 2})},
                         {24, 96, 24, 4});
  REQUIRE(result.code == 0);
  CHECK(values_of<int32_t>(result.outputs[3])[0] == 6);
  CHECK(values_of<int32_t>(result.outputs[2]) == std::vector<int32_t>{0, 2, 1, 2, 1, 0});
}

TEST_CASE("greatest halves", "[execution]") {
  const OperandSpec halves = tensor(kHalf, {1, 4, 4, 2});
  const auto half = [](uint16_t bits) { return constant(OperandCode::FLOAT16, {}, std::vector<uint16_t>{bits}); };
  const uint16_t one = 0x3c00;
  ModelSpec spec = operation(
      OperationCode::ROI_POOLING,
      {halves, tensor(kHalf, {1, 4}), tensor(kInts, {1}), int32(2), int32(2), half(one), half(one), boolean(true)}, 3,
      {tensor(kHalf, {1, 4, 2, 2})});
  const std::vector<uint16_t> cells(32, one);
  const std::vector<uint16_t> box = {0, 0, one, one};
  const Run result = run(spec, {bytes_of(cells), bytes_of(box), bytes_of(std::vector<int32_t>{0})}, {32});
  REQUIRE(result.code == 0);
  CHECK(values_of<uint16_t>(result.outputs[0]) == std::vector<uint16_t>(16, one));
}

TEST_CASE("ROI_ALIGN takes any number of samples in the same time", "[execution]") {
  const int32_t most = std::numeric_limits<int32_t>::max();
  const ModelSpec spec =
      operation(OperationCode::ROI_ALIGN,
                {tensor(kFloat, {1, 1, 4, 1}), constant(kFloat, {1, 4}, std::vector<float>{0, 0, 4, 1}),
                 constant(kInts, {1}, std::vector<int32_t>{0}), int32(1), int32(1), float32(1), float32(1), int32(most),
                 int32(most), boolean(false)},
                1, {tensor(kFloat, {1, 1, 1, 1})});
  const std::vector<uint8_t> bytes =
      compute(Compiled(spec), {bytes_of(std::vector<float>{0, 1, 2, 10})}, sizeof(float));
  float mean = 0;
  std::memcpy(&mean, bytes.data(), sizeof(mean));
  // Lines between the cells, 0.5 + 1.5 + 6, and 10 from the last cell on, over 4 cells.
  CHECK(mean == Approx(4.5f).epsilon(1e-6));
}
