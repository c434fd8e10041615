// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/samples/picture_samples.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "lib/base/error.h"
#include "lib/base/large_pages.h"
#include "lib/base/picture_list.h"
#include "lib/converter/samples/prepared_picture.h"
#include "lib/converter/samples/sample_limits.h"

namespace nnapi_convert {
namespace {

[[noreturn]] void no_pictures(const std::string& source, const std::string& problem) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("--calibrate {}: {}", source, problem));
}

// True for the bytes of pixels, with the channels last; 4 channels are those of a color and alpha.
bool takes_pixels(const TensorType& type) {
  return type.dtype == at::kByte;
}

PictureSize picture_size(const std::string& source, const ModuleInterface& interface) {
  const auto size_of = [](const TensorType& type) -> std::optional<PictureSize> {
    Dims dims = type.dims;
    const bool fits = dims.size() == 4 && dims[0].fixed_value().value_or(1) == 1;
    if (!fits || (type.dtype != at::kFloat && !takes_pixels(type))) return std::nullopt;
    if (takes_pixels(type)) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    const int64_t channels = dims[1].fixed_value().value_or(0);
    if (channels != 1 && channels != 3 && (channels != 4 || !takes_pixels(type))) return std::nullopt;
    return PictureSize{channels == 1 ? 1 : 3, dims[2].fixed_value().value_or(0), dims[3].fixed_value().value_or(0)};
  };
  const auto size = interface.inputs.size() == 1 ? size_of(interface.inputs[0].type) : std::nullopt;
  if (size) return *size;
  no_pictures(source,
              "pictures are for models with one input, float32[1, 3, H, W], [1, 1, H, W] or, of --input-pixels, "
              "uint8[1, H, W, C]; give tensors in a .pt, .npy or .npz file");
}

// Asks for --mean and --std: a wrong range of the pixels makes scales that fit nothing, and no distance from float
// shows it.
void check_normalisation(const CalibrationOptions& options) {
  if (!options.pictures.mean.empty() && !options.pictures.std.empty()) return;
  if (options.is_of_verify) {
    throw ConvertError(ExitCode::kUsage,
                       fmt::format("--inputs {}: the converted file has no --mean and --std, by which the model's "
                                   "pictures are normalised, as it was not calibrated with them; convert it again with "
                                   "them, or give tensors in a .pt, .npy or .npz file",
                                   options.source));
  }
  throw ConvertError(
      ExitCode::kUsage,
      fmt::format("--calibrate {}: --mean and --std are missing, by which the model's pictures are normalised: give "
                  "those of its training, for example --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225; a model that "
                  "takes 0 to 1 needs --mean 0 --std 1, and one that takes 0 to 255 --pixel-max 255, too",
                  options.source));
}

pictures::Preparation how_to_prepare(const PictureChoice& choice, const TensorType& type) {
  if (!takes_pixels(type)) return preparation_of(choice);
  if (choice.normalises()) {
    throw ConvertError(
        ExitCode::kUsage,
        "--mean, --std, --pixel-max and --bgr: the model takes bytes and normalises them itself; they go "
        "with --input-pixels or a model that takes float32");
  }
  PictureChoice bytes = choice;
  bytes.pixel_max = 255;
  return preparation_of(bytes);
}

// Returns the picture as a tensor. A large one gets pages of its own: freed memory between lasting tensors would be of
// no use for the large tensors of a run.
at::Tensor tensor_of(const PictureTensor& picture) {
  using Pixels = std::vector<float, LargePages<float>>;
  const auto pixels = std::make_shared<Pixels>(picture.values.begin(), picture.values.end());
  return at::from_blob(
      pixels->data(), {1, picture.channels, picture.height, picture.width}, [pixels](void*) {},
      at::TensorOptions(at::kFloat));
}

// Returns the picture as the input takes it.
at::Tensor to_input(const PictureTensor& picture, const TensorType& type) {
  at::Tensor values = tensor_of(picture);
  if (!takes_pixels(type)) return values;
  const bool has_alpha = type.dims.back().fixed_value() == 4;
  values = values.round().permute({0, 2, 3, 1});
  return (has_alpha ? at::constant_pad_nd(values, {0, 1}, 255) : values).to(at::kByte).contiguous();
}

PictureTensor sized(const calibration::Picture& picture, const PictureSize& size, const pictures::Preparation& how,
                    const std::string& path) {
  try {
    return prepared(picture, size, how);
  } catch (const ConvertError& error) {
    throw ConvertError(ExitCode::kBadFile, fmt::format("{}: {}", path, error.what()));
  }
}

void check_channels(const char* option, const std::vector<double>& values, int64_t channels) {
  if (values.size() <= 1 || static_cast<int64_t>(values.size()) == channels) return;
  throw ConvertError(ExitCode::kUsage, fmt::format("{}: {} numbers found, 1 or {} needed, one for each channel", option,
                                                   values.size(), channels));
}

}  // namespace

std::vector<calibration::ListedPicture> read_pictures(const CalibrationOptions& options,
                                                      const ModuleInterface& interface, Diagnostics& diagnostics,
                                                      const AddPicture& add) {
  const PictureSize size = picture_size(options.source, interface);
  const PictureChoice& choice = options.pictures;
  if (!takes_pixels(interface.inputs[0].type)) check_normalisation(options);
  check_channels("--mean", choice.mean, size.channels);
  check_channels("--std", choice.std, size.channels);
  const pictures::Preparation how = how_to_prepare(choice, interface.inputs[0].type);
  std::vector<calibration::ListedPicture> all = calibration::list_pictures(options.source);
  std::vector<size_t> used(all.size());  // numbers
  std::iota(used.begin(), used.end(), size_t{0});
  thin_out(used, most_samples(static_cast<uint64_t>(size.channels * size.height * size.width) * sizeof(float)));
  if (used.size() < all.size()) warn_of_thinning(used.size(), all.size(), "pictures", diagnostics);
  std::string first_problem;
  size_t bad = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    const calibration::ListedPicture& listed = all[used[i]];
    std::optional<calibration::Picture> picture;
    try {
      picture = calibration::read_picture(listed.path);
    } catch (const ConvertError& error) {
      if (++bad == 1) first_problem = error.what();
      continue;
    }
    const at::Tensor tensor = to_input(sized(*picture, size, how, listed.path), interface.inputs[0].type);
    add({tensor, listed, used[i], static_cast<uint32_t>(picture->width), static_cast<uint32_t>(picture->height)});
    if (options.on_progress) options.on_progress("read", i + 1, used.size());
  }
  if (bad == used.size())
    no_pictures(options.source, fmt::format("none of {} pictures can be read: {}", bad, first_problem));
  if (bad > 0) {
    diagnostics.warn(fmt::format("calibration: {} of {} pictures can't be read and are left out, the first: {}", bad,
                                 used.size(), first_problem));
  }
  return all;
}

}  // namespace nnapi_convert
