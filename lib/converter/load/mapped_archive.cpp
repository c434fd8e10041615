#include "lib/converter/load/mapped_archive.h"

#include <c10/core/CPUAllocator.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "lib/converter/archive/archive_file.h"
#include "lib/converter/archive/mapped_memory.h"
#include "lib/converter/libtorch/lent_allocator.h"

namespace nnapi_convert {
namespace {

// LibTorch takes memory for a record before it says which one it reads. Records are read in the file's order, so that
// of those of the memory's size the next one is most likely meant: it is mapped there. If it is another one, that is
// read into the memory.
class Records {
 public:
  explicit Records(const ArchiveFile& archive) : archive_(archive) {
    for (const nnapi_shim::ZipRecord& record : archive.records()) {
      if (record.bytes < kLeastMappedBytes) continue;
      const std::optional<uint64_t> begin = archive.data_begin(record);
      if (begin && can_map(*begin, record.bytes)) of_size_[record.bytes].positions.push_back(*begin);
    }
    for (auto& [size, same] : of_size_) std::sort(same.positions.begin(), same.positions.end());
  }

  // Memory with the next record of that size; none if there is no such record, or it can't be mapped.
  at::DataPtr map_next(size_t size) {
    const auto found = of_size_.find(size);
    if (found == of_size_.end() || found->second.next == found->second.positions.size()) return {};
    const uint64_t position = found->second.positions[found->second.next++];
    at::DataPtr memory = map_memory(archive_.file().fd, position, size);
    if (memory) mapped_[memory.get()] = {position, size};
    return memory;
  }

  // The memory holds something else now.
  void forget(const void* memory) { mapped_.erase(memory); }

  // True if the memory holds the record at that position. Otherwise the next one of its size is expected after it.
  bool is_mapped(uint64_t position, const void* memory, size_t size) {
    const auto found = mapped_.find(memory);
    if (found == mapped_.end()) return false;
    const Record mapped = found->second;
    mapped_.erase(found);
    if (mapped.position == position && mapped.size == size) return true;
    SameSize& same = of_size_[mapped.size];
    const auto after = std::upper_bound(same.positions.begin(), same.positions.end(), position);
    same.next = static_cast<size_t>(after - same.positions.begin());
    return false;
  }

 private:
  struct Record {
    uint64_t position, size;
  };
  struct SameSize {
    std::vector<uint64_t> positions;  // in the file's order
    size_t next = 0;                  // the one that is expected
  };

  const ArchiveFile& archive_;
  std::map<uint64_t, SameSize> of_size_;
  std::unordered_map<const void*, Record> mapped_;  // by memory that nothing was read into yet
};

class MappedFile : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit MappedFile(const std::string& path) : archive_(path), records_(archive_) {}

  size_t size() const override { return archive_.file().bytes; }
  size_t read(uint64_t position, void* memory, size_t size, const char* /*what*/) const override {
    if (records_.is_mapped(position, memory, size)) return size;
    return nnapi_shim::read_at(archive_.file(), position, memory, size) ? size : 0;
  }
  Records& records() const { return records_; }

 private:
  ArchiveFile archive_;
  mutable Records records_;
};

// LibTorch's allocator for the CPU while it lives.
class RecordAllocator : public LentAllocator {
 public:
  explicit RecordAllocator(Records& records) : records_(records), usual_(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(this);
  }
  ~RecordAllocator() override { c10::SetCPUAllocator(usual_); }
  RecordAllocator(const RecordAllocator&) = delete;
  RecordAllocator& operator=(const RecordAllocator&) = delete;

  at::DeleterFnPtr raw_deleter() const override { return usual_->raw_deleter(); }

 private:
  at::DataPtr lend(size_t size) const override {
    at::DataPtr memory = records_.map_next(size);
    if (memory) return memory;
    memory = usual_->allocate(size);
    records_.forget(memory.get());
    return memory;
  }

  Records& records_;
  at::Allocator* usual_;
};

}  // namespace

torch::jit::Module load_mapped(const std::string& path) {
  const auto file = std::make_shared<MappedFile>(path);
  const RecordAllocator allocator(file->records());
  return torch::jit::load(file, at::kCPU);
}

}  // namespace nnapi_convert
