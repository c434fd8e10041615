// FarmHash's Fingerprint64, which LSH_PROJECTION's results depend on: a 64-bit hash that is fixed for all time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nnapi_convert::host {

uint64_t fingerprint64(const uint8_t* bytes, std::size_t length);

}  // namespace nnapi_convert::host
