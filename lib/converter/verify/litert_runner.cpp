// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/verify/litert_runner.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/input_file.h"
#include "lib/base/own_library.h"
#include "lib/converter/emit/litert_file.h"
#include "lib/converter/verify/litert_script.h"
#include "lib/litert/file_reader.h"

namespace nnapi_convert {
namespace fs = std::filesystem;
using json = nlohmann::json;

// Has linkage, unlike an anonymous namespace, as LitertRunner::Parts has members of these types.
namespace litert_node {

// Runs the script in Node. It takes a line for each job, and gives a line for each answer.
class NodeProcess {
 public:
  NodeProcess(const fs::path& script, const std::string& packages) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("no socket");
    child_ = fork();
    if (child_ < 0) fail("no process");
    if (child_ == 0) {
      dup2(ends[1], STDIN_FILENO);
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      setenv("NNAPI_CONVERT_LITERT", packages.c_str(), 1);
      execlp("node", "node", script.c_str(), "-", static_cast<char*>(nullptr));
      _exit(kNotFound);
    }
    close(ends[1]);
    end_ = ends[0];
  }
  ~NodeProcess() {
    if (end_ >= 0) close(end_);
    if (child_ <= 0) return;
    kill(child_, SIGKILL);  // Node would end with its input, unless it hangs
    waitpid(child_, nullptr, 0);
  }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  json ask(const json& job) {
    const std::string line = job.dump() + "\n";
    for (size_t sent = 0; sent < line.size();) {
      const ssize_t count = send(end_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) fail(end_text());
      sent += static_cast<size_t>(count);
    }
    size_t end = answer_.find('\n');
    while (end == std::string::npos) {
      pollfd wait = {end_, POLLIN, 0};
      if (poll(&wait, 1, kMostSeconds * 1000) == 0) fail(fmt::format("no answer within {} s", kMostSeconds));
      char part[1 << 12];
      const ssize_t count = read(end_, part, sizeof part);
      if (count <= 0) fail(end_text());
      answer_.append(part, static_cast<size_t>(count));
      end = answer_.find('\n');
    }
    const json result = json::parse(answer_.substr(0, end), nullptr, false);
    answer_.erase(0, end + 1);
    if (result.is_discarded()) fail("its answer is no JSON");
    return result;
  }

 private:
  static constexpr int kNotFound = 127;
  static constexpr int kMostSeconds = 600;

  [[noreturn]] static void fail(const std::string& problem) {
    throw ConvertError(ExitCode::kVerificationFailed, "LiteRT under Node doesn't answer: " + problem);
  }

  // Returns why Node ended.
  std::string end_text() {
    int status = 0;
    const bool is_over = child_ > 0 && waitpid(child_, &status, 0) == child_;
    child_ = -1;
    if (is_over && WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) return "Node is not installed";
    return is_over && WIFSIGNALED(status) ? fmt::format("it was ended by signal {}", WTERMSIG(status)) : "it has ended";
  }

  pid_t child_ = -1;
  int end_ = -1;
  std::string answer_;
};

}  // namespace litert_node

namespace {

constexpr const char* kPackage = "node_modules/@litertjs/core";

// Returns the folder of npm's packages: the user's, or that of a build of this project.
fs::path package_folder() {
  if (const char* given = std::getenv("NNAPI_CONVERT_LITERT")) return given;
  return own_program_path().parent_path().parent_path().parent_path() / "litert";
}

void check_packages() {
  const fs::path folder = package_folder();
  if (fs::exists(folder / kPackage)) return;
  throw ConvertError(
      ExitCode::kBadFile,
      fmt::format("no LiteRT to run the file: {} is not in {}; needed: Node 18 and npm's @litertjs/core, "
                  "which scripts/install-litert.sh installs (docs/litert.md); NNAPI_CONVERT_LITERT "
                  "names the folder of its node_modules",
                  kPackage, folder.string()));
}

litert::ReadFile read_litert(const std::string& path) {
  std::string problem;
  const std::optional<std::string> bytes = text_of_file(path, problem);
  if (!bytes) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
  return litert::read_file(*bytes, path);
}

[[noreturn]] void fail_without_record(const std::string& path) {
  throw ConvertError(ExitCode::kBadFile, path +
                                             ": not a LiteRT file that nnapi-convert wrote: its record is missing or "
                                             "damaged");
}

// Calls a function that reads the record. Its errors become one that names the record.
template <typename Function>
auto by_record(const std::string& path, Function function) {
  try {
    return function();
  } catch (const json::exception&) {
    fail_without_record(path);
  } catch (const std::out_of_range&) {
    fail_without_record(path);
  } catch (const c10::Error&) {
    fail_without_record(path);
  }
}

json records_of(const litert::ReadFile& file, const std::string& path) {
  const auto record = file.metadata.find(kLitertRecord);
  if (record == file.metadata.end()) fail_without_record(path);
  json records = json::parse(record->second, nullptr, false);
  if (!records.is_array() || records.empty()) fail_without_record(path);
  return records;
}

at::ScalarType dtype_of(const std::string& type) {
  if (type == "float32") return at::kFloat;
  if (type == "int32") return at::kInt;
  if (type == "int8") return at::kChar;
  if (type == "uint8") return at::kByte;
  if (type == "bool") return at::kBool;
  throw ConvertError(ExitCode::kBadFile, "the LiteRT file has a tensor of type " + type);
}

// Returns the tensor's numbers in the file's type.
at::Tensor in_file_type(at::Tensor tensor, const litert::ReadTensor& port) {
  const at::ScalarType dtype = dtype_of(port.type);
  if (tensor.is_quantized()) tensor = dtype == at::kFloat ? tensor.dequantize() : tensor.int_repr();
  const bool moves = dtype == at::kChar && tensor.scalar_type() == at::kByte;
  return moves ? (tensor.to(at::kInt) - litert::kUint8Shift).to(dtype) : tensor.to(dtype);
}

at::Tensor real_numbers(const at::Tensor& stored, const litert::ReadTensor& port) {
  if (port.scales.size() != 1) return stored;
  const int64_t zero_point = port.zero_points.empty() ? 0 : port.zero_points[0];
  return (stored.to(at::kFloat) - zero_point) * port.scales[0];
}

}  // namespace

struct LitertRunner::Parts {
  std::string path;
  litert::ReadFile file;
  json record;
  Metadata metadata;
  StagingFolder folder{fs::temp_directory_path() / "litert", fs::temp_directory_path()};
  std::unique_ptr<litert_node::NodeProcess> node;

  // Returns the path for a file's copy, fit for JSON: names of files may hold any bytes, and JSON holds UTF-8.
  fs::path model() const { return folder.path() / "model.tflite"; }

  const litert::ReadSignature& signature() const {
    for (const litert::ReadSignature& each : file.signatures) {
      if (each.key == record.at("key")) return each;
    }
    fail_without_record(path);
  }

  // Writes a copy of the file whose open inputs have these sizes: LiteRT under Node can't be told sizes otherwise.
  fs::path with_sizes(const std::vector<std::pair<litert::ReadPort, std::vector<int64_t>>>& inputs) const {
    std::string problem;
    std::optional<std::string> bytes = text_of_file(path, problem);
    if (!bytes) throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, problem));
    for (const auto& [port, sizes] : inputs) {
      const litert::ReadTensor& input = tensor(port);
      const std::vector<int32_t> numbers(sizes.begin(), sizes.end());
      if (numbers.size() != input.shape.size() || numbers.size() != input.signature.size()) fail_without_record(path);
      for (const uint64_t place : {input.shape_begin, input.signature_begin}) {
        bytes->replace(place, numbers.size() * sizeof(int32_t), reinterpret_cast<const char*>(numbers.data()),
                       numbers.size() * sizeof(int32_t));
      }
    }
    const fs::path copy = folder.path() / "sized.tflite";
    std::ofstream(copy, std::ios::binary | std::ios::trunc) << *bytes;
    return copy;
  }

  const litert::ReadTensor& tensor(const litert::ReadPort& port) const {
    const std::vector<litert::ReadTensor>& tensors = file.subgraphs.at(signature().subgraph).tensors;
    return tensors.at(port.tensor);
  }
};

bool is_litert(const std::string& path) {
  constexpr size_t kFirstBytes = 8;
  InputFile file(path);
  std::string bytes(kFirstBytes, '\0');
  bytes.resize(file.read(bytes.data(), bytes.size()));
  return file.problem().empty() && litert::is_litert_file(bytes);
}

std::vector<std::string> litert_method_names(const std::string& path) {
  return by_record(path, [&] {
    std::vector<std::string> names;
    for (const json& record : records_of(read_litert(path), path)) {
      const std::string name = record.value("method", "");
      if (!name.empty()) names.push_back(name);
    }
    return names;
  });
}

LitertRunner::LitertRunner(const std::string& path, const std::string& method) : parts_(std::make_unique<Parts>()) {
  parts_->path = path;
  parts_->file = read_litert(path);
  by_record(path, [&] {
    for (const json& record : records_of(parts_->file, path)) {
      if (record.at("method") == method) parts_->record = record;
    }
    if (parts_->record.is_null()) {
      throw ConvertError(ExitCode::kUsage, fmt::format("{} has no method \"{}\"", path, method));
    }
    parts_->metadata = parse_metadata(parts_->record.at("metadata").get<std::string>());
  });
  check_packages();
  fs::create_symlink(fs::absolute(path), parts_->model());
  const FolderFile& script = litert_script().at(0);
  const fs::path file = parts_->folder.path() / script.name;
  std::ofstream(file) << script.text;
  parts_->node = std::make_unique<litert_node::NodeProcess>(file, package_folder().string());
}

LitertRunner::~LitertRunner() = default;

const Metadata& LitertRunner::metadata() const {
  return parts_->metadata;
}

std::vector<at::Tensor> LitertRunner::run(const Values& sample) {
  return by_record(parts_->path, [&] { return run_by_record(sample); });
}

std::vector<at::Tensor> LitertRunner::run_by_record(const Values& sample) {
  const litert::ReadSignature& signature = parts_->signature();
  std::vector<at::Tensor> given;
  for (const c10::IValue& value : sample) {
    if (value.isTensor()) given.push_back(value.toTensor());
  }
  json job = {{"model", parts_->model().string()}, {"signature", signature.key}};
  std::vector<std::pair<litert::ReadPort, std::vector<int64_t>>> open;
  json files = {{"in", json::array()}, {"out", json::array()}};
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const json& record = parts_->record.at("inputs").at(i);
    at::Tensor tensor = given.at(record.at("argument").get<size_t>());
    if (record.at("nhwc") && tensor.dim() == 4) tensor = tensor.permute({0, 2, 3, 1});
    tensor = in_file_type(tensor, parts_->tensor(signature.inputs[i])).contiguous();
    if (!parts_->tensor(signature.inputs[i]).signature.empty())
      open.emplace_back(signature.inputs[i], tensor.sizes().vec());
    const fs::path path = parts_->folder.path() / fmt::format("in{}.bin", i);
    std::ofstream(path, std::ios::binary)
        .write(static_cast<const char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    files["in"].push_back(path.string());
  }
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    files["out"].push_back((parts_->folder.path() / fmt::format("out{}.bin", i)).string());
  }
  job["samples"] = json::array({files});
  if (!open.empty()) {
    job["model"] = parts_->with_sizes(open).string();
    job["interpreter"] = true;  // LiteRT for Node gives results the sizes that the file has
    if (signature.subgraph != 0) {
      throw ConvertError(
          ExitCode::kBadFile,
          fmt::format("{}: {} has open sizes, at which only the first method can be run here; to verify, "
                      "convert with all sizes in --input",
                      parts_->path, signature.key));
    }
  }
  const json report = parts_->node->ask(job);
  if (report.contains("error")) {
    throw ConvertError(ExitCode::kVerificationFailed,
                       fmt::format("{} doesn't run in LiteRT: {}", parts_->path, report["error"].get<std::string>()));
  }
  std::vector<at::Tensor> results;
  for (const json& record : parts_->record.at("results")) {
    const auto output = record.at("output").get<size_t>();
    const litert::ReadTensor& port = parts_->tensor(signature.outputs.at(output));
    const auto shape = report.at("outputs").at(output).at("shape").get<std::vector<int64_t>>();
    at::Tensor tensor = at::empty(shape, dtype_of(port.type));
    std::ifstream(files["out"].at(output).get<std::string>(), std::ios::binary)
        .read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    if (record.at("nhwc") && tensor.dim() == 4) tensor = tensor.permute({0, 3, 1, 2}).contiguous();
    if (record.at("is_number") && tensor.numel() == 1) tensor = tensor.reshape(at::IntArrayRef());
    tensor = real_numbers(tensor, port);
    const auto dtype = static_cast<at::ScalarType>(record.at("dtype").get<int>());
    results.push_back(c10::isQIntType(dtype) ? tensor : tensor.to(dtype));
  }
  return results;
}

}  // namespace nnapi_convert
