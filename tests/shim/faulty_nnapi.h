// SPDX-License-Identifier: BSD-3-Clause
// An NNAPI with faults, for tests: the host's NNAPI, offered as three devices of which some have a fault.
//
// The devices are "alpha" (an accelerator), "beta" (a GPU) and "nnapi-reference"; what NNAPI chooses is alpha. The
// library reads environment variables at each call, so that they hold for processes that a test starts, too:
//   FAULTY_NNAPI           the faults, see Fault::text()
//   FAULTY_NNAPI_VERSION   the version of the drivers; "1" if not set
//   FAULTY_NNAPI_LOG       a file that gets a line for each compilation and each run: what, device
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace faulty_nnapi {

enum class FaultKind {
  kNone,
  kWrong,         // adds `amount` to one element of an output
  kNan,           // writes NaN there
  kNothing,       // writes no output
  kRefuse,        // refuses at compile
  kRefuseRun,     // fails in runs from `run` on
  kCrashCompile,  // kills the process at compile
  kCrashRun,      // kills the process in the run of this number
  kDeadRun,       // the driver's own process dies: DEAD_OBJECT in runs from `run` on
  kHangCompile,   // does not return from compile
  kHangRun,       // does not return from the run of this number
  kRefuseCached,  // refuses a model that it finds in the cache
  kWrongCached,   // computes wrongly with a model that it finds in the cache
  kCrashCached,   // kills the process where it finds the model in the cache
  kKinds,         // those above are for every model
  kRefuseMapped,  // refuses a model with weights by file descriptor at compile, as it may not map the file
  kZeroMapped,    // computes zeros with such a model, and keeps it so in the cache
};

struct Fault {
  std::string device = "alpha";  // or beta
  FaultKind kind = FaultKind::kNone;
  int operation = -1;     // only models with this operation; -1: all
  uint32_t elements = 0;  // only models one of whose operands has so many elements; 0: all
  int run = 1;            // counted from 1 for each compilation
  float amount = 1;

  std::string text() const {
    std::ostringstream text;
    text << device << ' ' << static_cast<int>(kind) << ' ' << operation << ' ' << elements << ' ' << run << ' '
         << amount << ' ';
    return text.str();
  }
};

}  // namespace faulty_nnapi
