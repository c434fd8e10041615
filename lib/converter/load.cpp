#include "lib/converter/load.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "lib/base/error.h"
#include "lib/converter/archive_check.h"
#include "lib/converter/custom_operators.h"
#include "lib/converter/mapped_archive.h"
#include "lib/converter/quantised_engine.h"

namespace nnapi_convert {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw ConvertError(ExitCode::kBadFile, fmt::format("can't read {}: {}", path, reason));
}

std::vector<InputTuple> read_bundled_inputs(torch::jit::Module& module) {
  std::vector<InputTuple> result;
  const auto method = module.find_method("get_all_bundled_inputs");
  if (!method) return result;
  const c10::IValue samples = (*method)({});
  for (const c10::IValue& sample : samples.toListRef()) {
    if (sample.isTuple()) result.push_back(sample.toTupleRef().elements().vec());
  }
  return result;
}

}  // namespace

std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

void check_is_archive(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) fail(path, "no such file");
  if (fs::is_directory(path, error)) fail(path, "it is a folder; a TorchScript file is needed");
  std::ifstream stream(path, std::ios::binary);
  char magic[4] = {};
  if (!stream.read(magic, sizeof magic)) fail(path, "it is shorter than 4 bytes, or not readable");
  if (std::string(magic, 4) != "PK\x03\x04") {
    fail(path,
         "not a zip archive; save the model with torch.jit.trace(...).save(path) or torch.jit.script(...).save(path)");
  }
}

LoadedModel load_model(const std::string& path, Diagnostics& diagnostics) {
  check_is_archive(path);
  choose_quantised_engine();
  declare_custom_operators();
  LoadedModel loaded{path, {}, {}};
  try {
    check_archive(path);
    loaded.module = load_mapped(path);
    loaded.bundled_inputs = read_bundled_inputs(loaded.module);
  } catch (const ConvertError&) {
    throw;
  } catch (const std::exception& error) {
    const std::string missing = missing_operator(error.what());
    fail(path, missing.empty() ? "not a TorchScript archive, or a damaged one: " + first_line(error) : missing);
  }
  if (!loaded.module.find_method("forward")) fail(path, "the module has no forward method");
  if (loaded.module.is_training()) {
    diagnostics.warn(
        "the model was saved in training mode and is converted in evaluation mode: call model.eval() first");
    loaded.module.eval();
  }
  return loaded;
}

}  // namespace nnapi_convert
