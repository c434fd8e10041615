#include "lib/serialize/late_tensors.h"

#include <ATen/ATen.h>
#include <sys/mman.h>

#include <cstring>

#include "lib/base/error.h"
#include "lib/ops/constant_tensor.h"

namespace nnapi_convert {
namespace {

// Less is evaluated at once: it saves nothing to wait.
constexpr size_t kLeastBytes = size_t{64} << 10;

// Zeros that take memory from when they are written to; null if there is no room for them.
at::Tensor reserved_tensor(const std::vector<int64_t>& shape, at::ScalarType type, size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return {};
  return at::from_blob(
      data, shape, [bytes](void* begin) { ::munmap(begin, bytes); }, type);
}

}  // namespace

at::Tensor LateTensors::add(const nnapi::Constant& constant) {
  if (constant.byte_count() < kLeastBytes) return to_tensor(constant);
  const at::Tensor tensor = reserved_tensor(constant.shape(), scalar_type(constant.type()), constant.byte_count());
  if (!tensor.defined()) return to_tensor(constant);
  late_.emplace(tensor.data_ptr(), Late{tensor, constant});
  return tensor;
}

void LateTensors::fill() {
  for (auto& [data, late] : late_) {
    auto* out = static_cast<uint8_t*>(late.tensor.data_ptr());
    late.value.write_to([&](const void* bytes, size_t size) {
      std::memcpy(out, bytes, size);
      out += size;
    });
  }
  late_.clear();
}

void LateTensors::write(const void* data, bool releases, const nnapi::ByteSink& sink) {
  nnapi::Constant& value = late_.at(data).value;
  value.write_to(sink);
  if (releases) value.release();
}

void release_late(nnapi::Constant& constant) {
  if (constant.byte_count() >= kLeastBytes) constant.release();
}

}  // namespace nnapi_convert
