// SPDX-License-Identifier: BSD-3-Clause
#include "lib/quantise/kept_sample.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace nnapi_convert::quantise {
namespace {

constexpr size_t kNumberBytes = 4;
constexpr size_t kLeastBytes = 4096;  // palettes for smaller tensors save nothing
constexpr size_t kPictureChannels = 3;

// Numbers in the order in which they occur, at most as many as a byte can tell apart.
class Palette {
 public:
  Palette() { slots_.fill(kFree); }

  // Returns the number's code; nothing if the palette is full.
  std::optional<uint8_t> code_of(uint32_t number) {
    size_t slot = (number * 2654435761U) >> (32 - kSlotBits);
    while (slots_[slot] != kFree && numbers_[slots_[slot]] != number) slot = (slot + 1) % slots_.size();
    if (slots_[slot] == kFree) {
      if (numbers_.size() == kMost) return std::nullopt;
      slots_[slot] = static_cast<uint16_t>(numbers_.size());
      numbers_.push_back(number);
    }
    return static_cast<uint8_t>(slots_[slot]);
  }
  std::vector<uint32_t> take() { return std::move(numbers_); }

 private:
  static constexpr size_t kMost = 256;
  static constexpr unsigned kSlotBits = 10;
  static constexpr uint16_t kFree = 0xffff;

  std::array<uint16_t, size_t{1} << kSlotBits> slots_;
  std::vector<uint32_t> numbers_;
};

std::shared_ptr<const SpilledBytes> stored(const Bytes& bytes) {
  return std::make_shared<const SpilledBytes>(bytes.data(), bytes.size());
}

// The places of a channel's numbers among all numbers.
struct Channel {
  size_t first = 0, step = 1;
};

Channel channel_at(size_t channel, size_t numbers, size_t channels, bool is_interleaved) {
  return is_interleaved ? Channel{channel, channels} : Channel{channel * (numbers / channels), 1};
}

}  // namespace

KeptSample::KeptSample(const Sample& sample) : shapes_(sample.shapes) {
  for (const Bytes& bytes : sample.inputs) inputs_.push_back(kept(bytes));
}

Sample KeptSample::sample() const {
  Sample sample{shapes_, {}};
  for (const Input& input : inputs_) {
    Bytes bytes(input.stored->size());
    input.stored->read(bytes.data());
    sample.inputs.push_back(input.palettes.empty() ? std::move(bytes) : unpacked(input, bytes));
  }
  return sample;
}

uint64_t KeptSample::kept_bytes() const {
  uint64_t bytes = 0;
  for (const Input& input : inputs_) {
    bytes += input.stored->size();
    for (const std::vector<uint32_t>& palette : input.palettes) bytes += palette.size() * kNumberBytes;
  }
  return bytes;
}

KeptSample::Input KeptSample::kept(const Bytes& bytes) {
  Input input;
  if (bytes.size() < kLeastBytes || bytes.size() % kNumberBytes != 0) return {stored(bytes), {}, false};
  if (pack(bytes, 1, input)) return input;
  for (const bool is_interleaved : {true, false}) {
    input.is_interleaved = is_interleaved;
    if (pack(bytes, kPictureChannels, input)) return input;
  }
  return {stored(bytes), {}, false};
}

// Packs a tensor as codes. False if a channel has more different numbers than a byte has codes.
bool KeptSample::pack(const Bytes& bytes, size_t channels, Input& input) {
  const size_t numbers = bytes.size() / kNumberBytes;
  if (numbers % channels != 0) return false;
  Bytes codes(numbers);
  std::vector<std::vector<uint32_t>> palettes;
  for (size_t channel = 0; channel < channels; ++channel) {
    const auto [first, step] = channel_at(channel, numbers, channels, input.is_interleaved);
    Palette palette;
    for (size_t i = 0; i < numbers / channels; ++i) {
      const size_t at = first + i * step;
      uint32_t number = 0;
      std::memcpy(&number, bytes.data() + at * kNumberBytes, kNumberBytes);
      const auto code = palette.code_of(number);
      if (!code) return false;
      codes[at] = *code;
    }
    palettes.push_back(palette.take());
  }
  input.stored = stored(codes);
  input.palettes = std::move(palettes);
  return true;
}

Bytes KeptSample::unpacked(const Input& input, const Bytes& codes) {
  const size_t numbers = codes.size(), channels = input.palettes.size();
  Bytes bytes(numbers * kNumberBytes);
  for (size_t channel = 0; channel < channels; ++channel) {
    const auto [first, step] = channel_at(channel, numbers, channels, input.is_interleaved);
    for (size_t i = 0; i < numbers / channels; ++i) {
      const size_t at = first + i * step;
      std::memcpy(bytes.data() + at * kNumberBytes, &input.palettes[channel][codes[at]], kNumberBytes);
    }
  }
  return bytes;
}

}  // namespace nnapi_convert::quantise
