// SPDX-License-Identifier: BSD-3-Clause
// Declares the types of NNAPI's C interface, with the names and layout of the NDK's NeuralNetworks.h. So an app builds
// without that header, and the header's level does not matter.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct AHardwareBuffer;
struct ANeuralNetworksBurst;
struct ANeuralNetworksCompilation;
struct ANeuralNetworksDevice;
struct ANeuralNetworksEvent;
struct ANeuralNetworksExecution;
struct ANeuralNetworksMemory;
struct ANeuralNetworksModel;

struct ANeuralNetworksOperandType {
  int32_t type;
  uint32_t dimensionCount;
  const uint32_t* dimensions;
  float scale;
  int32_t zeroPoint;
};

struct ANeuralNetworksSymmPerChannelQuantParams {
  uint32_t channelDim;
  uint32_t scaleCount;
  const float* scales;
};

}  // extern "C"
