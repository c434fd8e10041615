// SPDX-License-Identifier: BSD-3-Clause
// torchvision's deformable convolution: each of a kernel's elements reads the image at a place of its own, moved by an
// offset, between pixels, and may be scaled by a mask.
#include <cmath>

#include "lib/program/arguments.h"
#include "lib/program/dot.h"
#include "lib/program/operator_table.h"

namespace nnapi_shim::program {

namespace {

struct Deformable {
  int64_t channels, height, width;      // the image's
  int64_t kernel_height, kernel_width;  // the weights'
  int64_t result_channels, result_height, result_width;
  int64_t stride[2], padding[2], dilation[2];
  int64_t groups, offset_groups;

  int64_t kernel() const { return kernel_height * kernel_width; }
  int64_t pixels() const { return height * width; }
  int64_t result_pixels() const { return result_height * result_width; }
};

// Returns a pixel; 0 outside of the image.
float pixel(const Deformable& form, const float* plane, int64_t y, int64_t x) {
  return y >= 0 && y < form.height && x >= 0 && x < form.width ? plane[y * form.width + x] : 0;
}

float between_pixels(const Deformable& form, const float* plane, float y, float x) {
  // NaN is outside, too.
  if (!(y > -1 && y < static_cast<float>(form.height) && x > -1 && x < static_cast<float>(form.width))) return 0;
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  const float down = y - static_cast<float>(top), over = x - static_cast<float>(left);
  return (1 - down) * (1 - over) * pixel(form, plane, top, left) +
         (1 - down) * over * pixel(form, plane, top, left + 1) + down * (1 - over) * pixel(form, plane, top + 1, left) +
         down * over * pixel(form, plane, top + 1, left + 1);
}

// Gathers what the kernel reads at one pixel of the result: [channels, kernel_height, kernel_width]. `offsets` and
// `mask`, which may be null, are those of the pixel; their elements are result_pixels() apart.
void gather(const Deformable& form, const float* image, const float* offsets, const float* mask, int64_t y, int64_t x,
            float* column) {
  const int64_t each = form.channels / form.offset_groups, step = form.result_pixels();
  for (int64_t group = 0; group < form.offset_groups; ++group) {
    for (int64_t k = 0; k < form.kernel(); ++k) {
      const int64_t number = group * form.kernel() + k;
      const int64_t row = k / form.kernel_width, at = k % form.kernel_width;
      const float place_y = static_cast<float>(y * form.stride[0] - form.padding[0] + row * form.dilation[0]) +
                            offsets[2 * number * step];
      const float place_x = static_cast<float>(x * form.stride[1] - form.padding[1] + at * form.dilation[1]) +
                            offsets[(2 * number + 1) * step];
      const float scale = mask == nullptr ? 1 : mask[number * step];
      for (int64_t channel = group * each; channel < (group + 1) * each; ++channel) {
        column[channel * form.kernel() + k] =
            scale * between_pixels(form, image + channel * form.pixels(), place_y, place_x);
      }
    }
  }
}

// Convolves one image. Weights are [result_channels, channels / groups, kernel_height, kernel_width].
void convolve(const Deformable& form, const float* image, const float* weights, const float* offsets, const float* mask,
              const float* bias, float* column, float* result) {
  const int64_t length = form.channels / form.groups * form.kernel(), of_group = form.result_channels / form.groups;
  for (int64_t i = 0; i < form.result_pixels(); ++i) {
    gather(form, image, offsets + i, mask == nullptr ? nullptr : mask + i, i / form.result_width, i % form.result_width,
           column);
    for (int64_t channel = 0; channel < form.result_channels; ++channel) {
      const float* part = column + channel / of_group * length;
      result[channel * form.result_pixels() + i] = bias[channel] + dot(weights + channel * length, part, length);
    }
  }
}

constexpr uint32_t kFirstNumber = 5;  // the number of the argument stride_h
constexpr int64_t kMostSize = int64_t{1} << 24;

// Reads stride, padding, dilation and groups.
bool read_numbers(Call& call, Deformable* form) {
  int64_t* const numbers[] = {&form->stride[0],   &form->stride[1],   &form->padding[0], &form->padding[1],
                              &form->dilation[0], &form->dilation[1], &form->groups,     &form->offset_groups};
  constexpr int64_t kLeast[] = {1, 1, 0, 0, 1, 1, 1, 1};
  constexpr uint32_t kCount = sizeof kLeast / sizeof kLeast[0];
  for (uint32_t i = 0; i < kCount; ++i) {
    if (!int_at(call, kFirstNumber + i, numbers[i])) return false;
    if (*numbers[i] < kLeast[i] || *numbers[i] > kMostSize) {
      return call.context.fail("deform_conv2d(): argument %u is %lld, needs %lld or more", kFirstNumber + i + 1,
                               static_cast<long long>(*numbers[i]), static_cast<long long>(kLeast[i]));
    }
  }
  return true;
}

int64_t result_size(const Deformable& form, int axis, int64_t size, int64_t kernel) {
  const int64_t room = size + 2 * form.padding[axis] - form.dilation[axis] * (kernel - 1) - 1;
  return room < 0 ? 0 : room / form.stride[axis] + 1;
}

bool is_single(const Tensor& tensor) {
  return tensor.dtype == ScalarType::kFloat32 || tensor.dtype == ScalarType::kFloat16;
}

bool has_sizes(const Tensor& tensor, int64_t images, int64_t channels, const Deformable& form) {
  return tensor.rank == 4 && tensor.sizes[0] == images && tensor.sizes[1] == channels &&
         tensor.sizes[2] == form.result_height && tensor.sizes[3] == form.result_width;
}

// Sets the sizes by those of the tensors, and checks that these agree.
bool read_sizes(Call& call, const Tensor* const* tensors, bool has_mask, Deformable* form) {
  const Tensor &input = *tensors[0], &weight = *tensors[1], &offset = *tensors[2], &mask = *tensors[3],
               &bias = *tensors[4];
  if (input.rank != 4 || weight.rank != 4)
    return call.context.fail("deform_conv2d() needs images and weights of 4 axes");
  form->channels = input.sizes[1];
  form->height = input.sizes[2];
  form->width = input.sizes[3];
  form->result_channels = weight.sizes[0];
  form->kernel_height = weight.sizes[2];
  form->kernel_width = weight.sizes[3];
  for (const int64_t size :
       {form->channels, form->height, form->width, form->result_channels, form->kernel_height, form->kernel_width}) {
    if (size < 1 || size > kMostSize) return call.context.fail("deform_conv2d() of %lld", static_cast<long long>(size));
  }
  form->result_height = result_size(*form, 0, form->height, form->kernel_height);
  form->result_width = result_size(*form, 1, form->width, form->kernel_width);
  const int64_t of_offset = form->offset_groups * form->kernel();
  const bool agree = form->channels % form->groups == 0 && form->result_channels % form->groups == 0 &&
                     form->channels % form->offset_groups == 0 && weight.sizes[1] == form->channels / form->groups &&
                     form->result_height > 0 && form->result_width > 0 && bias.rank == 1 &&
                     bias.sizes[0] == form->result_channels &&
                     has_sizes(offset, input.sizes[0], 2 * of_offset, *form) &&
                     (!has_mask || has_sizes(mask, input.sizes[0], of_offset, *form));
  return agree || call.context.fail("deform_conv2d(): sizes of the tensors that don't fit each other");
}

bool deform_conv2d(Call& call) {
  constexpr uint32_t kTensors = 5, kUseMask = 13;
  Tensor* tensors[kTensors];
  Deformable form;
  bool has_mask;
  if (!bool_at(call, kUseMask, &has_mask) || !read_numbers(call, &form)) return false;
  Pool& pool = call.context.pool;
  Value copies[kTensors];
  for (uint32_t i = 0; i < kTensors; ++i) {
    if (!tensor_at(call, i, &tensors[i])) return false;
    if (!is_single(*tensors[i])) return call.context.fail("deform_conv2d() needs float32 or float16");
    copies[i] = Value(row_major_copy(pool, *tensors[i], ScalarType::kFloat32));
    if (copies[i].is_none()) return call.context.fail_memory();
  }
  if (!read_sizes(call, tensors, has_mask, &form)) return false;
  const int64_t images = tensors[0]->sizes[0], length = form.channels * form.kernel();
  const int64_t sizes[4] = {images, form.result_channels, form.result_height, form.result_width};
  const Value column(make_tensor(pool, ScalarType::kFloat32, 1, &length));
  Tensor* result = make_tensor(pool, ScalarType::kFloat32, 4, sizes);
  if (!give(call, 0, result)) return false;
  if (column.is_none()) return call.context.fail_memory();
  const auto data = [&](uint32_t number) { return copies[number].tensor().data<float>(); };
  const int64_t of_mask = form.offset_groups * form.kernel() * form.result_pixels();
  for (int64_t i = 0; i < images; ++i) {
    convolve(form, data(0) + i * form.channels * form.pixels(), data(1), data(2) + i * 2 * of_mask,
             has_mask ? data(3) + i * of_mask : nullptr, data(4), column.tensor().data<float>(),
             result->data<float>() + i * form.result_channels * form.result_pixels());
  }
  if (tensors[0]->dtype != ScalarType::kFloat16) return true;
  return give(call, 0, converted_tensor(pool, *result, ScalarType::kFloat16));
}

constexpr OperatorRow kRows[] = {
    {"torchvision::deform_conv2d", 14, 1, deform_conv2d},
};

}  // namespace

const OperatorTable deformable_operators = operator_table<kRows>();

}  // namespace nnapi_shim::program
