// SPDX-License-Identifier: BSD-3-Clause
#include "lib/host_runtime/trace.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "lib/format/operation_table.h"
#include "lib/host_runtime/log.h"
#include "lib/host_runtime/quantization.h"

namespace nnapi_convert::host {

// Writes whole lines; any thread may call it.
class TraceFile {
 public:
  explicit TraceFile(const char* path) : stream_(path, std::ios::trunc) {}

  bool good() const { return stream_.good(); }
  int64_t next_execution() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ++executions_;
  }
  void add(const nlohmann::ordered_json& line) {
    const std::lock_guard<std::mutex> lock(mutex_);
    stream_ << line.dump() << std::endl;
  }

 private:
  std::mutex mutex_;
  std::ofstream stream_;
  int64_t executions_ = 0;
};

namespace {

using OrderedJson = nlohmann::ordered_json;

std::shared_ptr<TraceFile> file_at(const char* path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<TraceFile>> files;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<TraceFile>& file = files[path];
  if (file) return file;
  file = std::make_shared<TraceFile>(path);
  if (!file->good()) {
    complain_of_variable(
        "NNAPI_HOST_TRACE", path,
        fmt::format("a file that can be written needed ({}); nothing is traced", std::strerror(errno)));
  }
  return file;
}

OrderedJson inside(const Frame* frame) {
  if (!frame) return OrderedJson::array();
  OrderedJson path = inside(frame->outer);
  path.push_back({{"operation", frame->operation.index},
                  {"name", name_of(frame->operation.code)},
                  {"argument", frame->argument},
                  {"iteration", frame->iteration}});
  return path;
}

at::Tensor numbers_of(const Operand& operand, const Value& value) {
  const bool are_codes = is_tensor(operand.type);
  return (are_codes ? to_numbers(value.codes, operand) : value.codes).to(at::kDouble);
}

// Describes a value: its type, its shape, and the least, greatest and mean of its finite numbers.
OrderedJson describe(const Operand& operand, const Value& value) {
  OrderedJson result = {{"type", name_of(operand.type)}, {"shape", value.shape.dims}};
  const at::Tensor numbers = numbers_of(operand, value);
  const at::Tensor finite = numbers.masked_select(numbers.isfinite());
  const bool any = finite.numel() > 0;
  result["min"] = any ? OrderedJson(finite.min().item<double>()) : OrderedJson();
  result["max"] = any ? OrderedJson(finite.max().item<double>()) : OrderedJson();
  result["mean"] = any ? OrderedJson(finite.mean().item<double>()) : OrderedJson();
  result["non_finite"] = numbers.numel() - finite.numel();
  return result;
}

OrderedJson line_of(int64_t execution, const Operation& operation, const Frame* frame) {
  OrderedJson line = {{"execution", execution}, {"operation", operation.index}, {"name", name_of(operation.code)}};
  if (frame) line["inside"] = inside(frame);
  return line;
}

}  // namespace

Trace::Trace(std::shared_ptr<TraceFile> file) : file_(std::move(file)), execution_(file_->next_execution()) {}

std::unique_ptr<Trace> Trace::begin() {
  const char* path = std::getenv("NNAPI_HOST_TRACE");
  if (!path || !*path) return nullptr;
  std::shared_ptr<TraceFile> file = file_at(path);
  if (!file->good()) return nullptr;
  return std::unique_ptr<Trace>(new Trace(std::move(file)));
}

void Trace::add_operation(const Operation& operation, const Frame* frame, std::chrono::nanoseconds taken,
                          const std::vector<const Operand*>& operands, const std::vector<Value>& outputs) {
  OrderedJson line = line_of(execution_, operation, frame);
  line["microseconds"] = static_cast<double>(taken.count()) / 1000;
  line["outputs"] = OrderedJson::array();
  for (std::size_t i = 0; i < outputs.size(); ++i) line["outputs"].push_back(describe(*operands[i], outputs[i]));
  file_->add(line);
}

void Trace::add_overflow(const Operation& operation, const Frame* frame, const Overflow& overflow) {
  if (overflowed_) return;
  overflowed_ = true;
  OrderedJson line = line_of(execution_, operation, frame);
  line["first_overflow"] = {{"output", overflow.output}, {"element", overflow.element}, {"value", overflow.value}};
  file_->add(line);
}

}  // namespace nnapi_convert::host
