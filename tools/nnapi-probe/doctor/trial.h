// SPDX-License-Identifier: BSD-3-Clause
// The tasks of the doctor's child processes: everything that calls NNAPI itself.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "lib/shim/compilation.h"
#include "tools/nnapi-probe/doctor/comparison.h"
#include "tools/nnapi-probe/doctor/patient.h"

namespace nnapi_doctor {

constexpr uint32_t kMostDevices = 16;
constexpr int32_t kNnapisChoice = -1;

struct DeviceNote {
  char name[160], version[160];
  int32_t type;
  uint32_t feature_level;
};

enum class Task : int32_t {
  kDevices,    // lists the devices and NNAPI's feature level
  kSupport,    // asks the device which operations of the whole model it takes; writes the flags
  kWhole,      // runs a sample of the file on the whole model
  kCut,        // runs some operations with the reference's values, and compares their results with the reference's; for
               // one operation, keeps the results of the worst run in the store
  kReference,  // runs some operations as kCut does, and keeps the results as the reference's values, without comparing
  kRounded,    // computes operations with inputs and weights rounded to half precision, into the store's scratch
};

struct Request {
  Task task;
  uint32_t part, sample;
  int32_t device;      // the number in the list of devices, or kNnapisChoice
  int32_t other;       // a device that may run operations that the first doesn't take; kNnapisChoice: none
  uint32_t runs;       // the number of runs for the times; at least 1
  uint32_t checks;     // the most runs to let a fault show that comes and goes; each run is checked
  uint64_t checks_ns;  // the time after which no further run is made only for the check
  bool copies;         // the weights are given as a copy, not by the file
  bool is_half;        // the device computes in half precision
  uint32_t operation_count;
};

// The answer to a request. Plain data: processes share it.
struct Answer {
  int32_t status, nnapi_code;  // the shim's status; NNAPI_SHIM_OK also for wrong results
  uint32_t device_count, feature_level;
  DeviceNote devices[kMostDevices];
  Comparison worst;  // for the result with the largest share
  uint32_t worst_operand;
  uint32_t checked_runs, wrong_runs;  // kWhole checks by the file's outputs, kCut by the reference's values
  uint64_t median_ns, compile_ns;
  uint32_t compilations;
  char message[400];
};
static_assert(std::is_trivially_copyable<Answer>::value, "processes share it");
static_assert(std::is_trivially_copyable<Request>::value, "processes share it");

// The bytes that a worker shares with the doctor: a request, an answer, and as many numbers of operations and flags as
// the largest part has operations.
class TaskBytes {
 public:
  TaskBytes(uint8_t* bytes, size_t operations) : bytes_(bytes), operations_(operations) {}
  static size_t size(size_t operations) { return sizeof(Request) + sizeof(Answer) + operations * 5 + 64; }

  Request& request() const { return *reinterpret_cast<Request*>(bytes_ + kAnswerBytes); }
  Answer& answer() const { return *reinterpret_cast<Answer*>(bytes_); }
  uint32_t* operations() const { return reinterpret_cast<uint32_t*>(bytes_ + kAnswerBytes + kRequestBytes); }
  uint8_t* flags() const { return bytes_ + kAnswerBytes + kRequestBytes + operations_ * 4; }

 private:
  static constexpr size_t kAnswerBytes = (sizeof(Answer) + 15) / 16 * 16;
  static constexpr size_t kRequestBytes = (sizeof(Request) + 15) / 16 * 16;
  uint8_t* bytes_;
  size_t operations_;
};

struct LibraryChoice {
  std::string path;  // empty: libneuralnetworks.so
  bool is_support_library = false;
};

// Returns whether half precision explains how the results of the operation's worst run, which kCut has kept, differ
// from the reference's values. The scratch has the reference's results for rounded numbers (kRounded).
bool half_explains_worst_run(const Patient& patient, const Part& part, uint32_t operation);

// Performs one task after the other, in the child.
class Laboratory {
 public:
  // The patient has to outlive this object.
  Laboratory(const Patient& patient, LibraryChoice library);
  void work(const TaskBytes& bytes);

 private:
  int start(nnapi_shim_error* error);
  int list(Answer* answer, nnapi_shim_error* error);
  int choose(const Request& request, nnapi_shim::DeviceChoice* choice, nnapi_shim_error* error) const;
  int ask_support(const TaskBytes& bytes, const Part& part, nnapi_shim_error* error);
  int run_whole(const Request& request, const Part& part, Answer* answer, nnapi_shim_error* error);
  bool has_wrong_outputs(const Request& request, const Part& part, const nnapi_shim::RunBuffers& buffers,
                         Answer* answer) const;
  int run_cut(const Request& request, const std::vector<uint32_t>& operations, const Part& part, Answer* answer,
              nnapi_shim_error* error);
  std::shared_ptr<nnapi_shim::CompiledModel> compile(const Request& request, const Part& part,
                                                     const nnapi_shim::ModelView& view, Answer* answer, int* status,
                                                     nnapi_shim_error* error);

  const Patient& patient_;
  const LibraryChoice choice_;
  const nnapi_shim::NnapiLibrary* library_ = nullptr;
  nnapi_shim::Options options_;
  std::vector<nnapi_shim::Device> devices_;
};

}  // namespace nnapi_doctor
