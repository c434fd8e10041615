// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/torch_binding.h"

#include <ATen/ATen.h>
#include <torch/custom_class.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <type_traits>

#include "lib/format/buffer_format_v2.h"
#include "lib/shim/auto_select.h"
#include "lib/shim/direct_call.h"
#include "lib/shim/nnapi_shim.h"

namespace nnapi_shim {
namespace {

using TensorList = c10::List<at::Tensor>;
using Scales = c10::List<double>;
using Options = c10::Dict<std::string, std::string>;
namespace format = nnapi_convert::buffer_format_v2;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

[[noreturn]] void raise(const nnapi_shim_error& error) {
  TORCH_CHECK(false, "nnapi-convert: ", error.message);
}

// Returns the shapes of the tensors for the C interface. `keep` holds the tensors that the shapes point into.
std::vector<nnapi_shim_shape> shapes_of(const TensorList& arguments, std::vector<at::Tensor>& keep) {
  std::vector<nnapi_shim_shape> shapes;
  shapes.reserve(arguments.size());
  keep.reserve(arguments.size());
  for (const at::Tensor& tensor : arguments) {
    keep.push_back(tensor);
    shapes.push_back({static_cast<uint32_t>(tensor.dim()), keep.back().sizes().data()});
  }
  return shapes;
}

std::vector<int64_t> sizes_of(const nnapi_shim_tensor& tensor) {
  return {tensor.sizes, tensor.sizes + tensor.rank};
}

void check_shape(const at::Tensor& input, const nnapi_shim_tensor& needed, size_t index) {
  TORCH_CHECK(input.sizes().equals(sizes_of(needed)), "nnapi-convert: input ", index, ": shape ", input.sizes(),
              " found, ", at::IntArrayRef(sizes_of(needed)), " needed");
}

// Makes an empty output. `scale` is the output's scale as a double: PyTorch keeps more digits than NNAPI.
at::Tensor empty_output(const nnapi_shim_tensor& output, double scale) {
  const c10::ScalarType dtype = scalar_type(output.type);
  const std::vector<int64_t> sizes = sizes_of(output);
  if (!c10::isQIntType(dtype)) return at::empty(sizes, at::TensorOptions(dtype));
  return at::_empty_affine_quantized(sizes, at::TensorOptions(dtype), scale, output.zero_point);
}

// Returns whether calls with other inputs would fail in the same way.
bool is_for_good(int status) {
  return status == NNAPI_SHIM_UNAVAILABLE || status == NNAPI_SHIM_TOO_OLD || status == NNAPI_SHIM_NO_DEVICE ||
         status == NNAPI_SHIM_REFUSED;
}

uint64_t whole_number(const std::string& key, const std::string& value) {
  char* end = nullptr;
  const unsigned long long number = std::strtoull(value.c_str(), &end, 10);
  const bool is_number = !value.empty() && value[0] >= '0' && value[0] <= '9' && *end == '\0';
  TORCH_CHECK(is_number, "nnapi-convert: option ", key, ": '", value, "' found, a whole number needed");
  return number;
}

int32_t device_kind(const std::string& value) {
  const std::pair<const char*, int32_t> kinds[] = {{"any", NNAPI_SHIM_ANY_DEVICE},
                                                   {"gpu", NNAPI_SHIM_GPU},
                                                   {"accelerator", NNAPI_SHIM_ACCELERATOR},
                                                   {"cpu", NNAPI_SHIM_CPU},
                                                   {"not-reference-cpu", NNAPI_SHIM_NOT_REFERENCE_CPU}};
  for (const auto& [name, kind] : kinds) {
    if (value == name) return kind;
  }
  TORCH_CHECK(false, "nnapi-convert: option device_kind: '", value,
              "' found, any, gpu, accelerator, cpu or not-reference-cpu needed");
}

// Returns the options for the C interface, with pointers to the texts in `options`.
nnapi_shim_options shim_options(const Options& options) {
  nnapi_shim_options result{};
  result.struct_bytes = sizeof result;
  using Set = std::function<void(const std::string& key, const std::string& value)>;
  const auto number = [](auto& field) -> Set {
    return [&field](const std::string& key, const std::string& value) {
      field = static_cast<std::decay_t<decltype(field)>>(whole_number(key, value));
    };
  };
  const auto text = [](const char*& field) -> Set {
    return [&field](const std::string&, const std::string& value) { field = value.c_str(); };
  };
  const std::map<std::string, Set> known = {
      {"auto_select", number(result.measure_models)},
      {"cache_directory", text(result.cache_directory)},
      {"compile_timeout_ns", number(result.compile_timeout_ns)},
      {"device", text(result.device)},
      {"device_kind", [&](const std::string&, const std::string& value) { result.device_kind = device_kind(value); }},
      {"driver_rules", text(result.driver_rules)},
      {"driver_rules_file", text(result.driver_rules_file)},
      {"execute_timeout_ns", number(result.execute_timeout_ns)},
      {"library", text(result.library)},
      {"loop_timeout_ns", number(result.loop_timeout_ns)},
      {"max_compiled", number(result.max_compiled)},
      {"measure_timing", number(result.measure_timing)},
      {"no_burst", number(result.no_burst)},
      {"no_reuse", number(result.no_reuse)},
      {"no_self_check", number(result.no_self_check)},
      {"preference", number(result.preference)},
      {"priority", number(result.priority)},
      {"support_library", text(result.library)},
      {"variant", number(result.variant)},
  };
  for (const auto& entry : options) {
    const auto found = known.find(entry.key());
    TORCH_CHECK(found != known.end(), "nnapi-convert: there is no option ", entry.key(), "; see docs/shim.md");
    found->second(entry.key(), entry.value());
  }
  result.is_support_library = options.contains("support_library") ? 1 : 0;
  return result;
}

}  // namespace

class Compilation : public torch::CustomClassHolder {
 public:
  Compilation(at::Tensor words, at::Tensor weights) : words_(words.contiguous()), weights_(weights.contiguous()) {
    TORCH_CHECK(words_.scalar_type() == at::kInt && words_.device().is_cpu(), "nnapi-convert: a buffer of dtype ",
                words_.scalar_type(), " found, int32 on the CPU needed");
    nnapi_shim_error error;
    const int status = nnapi_shim_open_memory(words_.data_ptr(), static_cast<size_t>(words_.numel()),
                                              weights_.data_ptr(), weights_.nbytes(), &model_, &error);
    if (status != NNAPI_SHIM_OK) raise(error);
  }
  ~Compilation() override { nnapi_shim_close(model_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  const at::Tensor& words() const { return words_; }
  const at::Tensor& weights() const { return weights_; }

  TensorList run(const TensorList& arguments, const TensorList& inputs, const Scales& scales) {
    nnapi_shim_error error;
    TensorList outputs;
    if (run_to({arguments, inputs, scales}, outputs, error) != NNAPI_SHIM_OK) raise(error);
    return outputs;
  }

  // Returns an empty list if NNAPI can't run the model; raises for a mistake of the caller.
  TensorList try_run(const TensorList& arguments, const TensorList& inputs, const Scales& scales) {
    return try_call([&](TensorList& outputs, nnapi_shim_error& error) {
      return run_to({arguments, inputs, scales}, outputs, error);
    });
  }

  // run_direct, run_direct_to_one and try_run_direct are for modules whose inputs and outputs differ from NNAPI's only
  // in layout: DirectCall changes the layout.
  TensorList run_direct(const TensorList& arguments, const Scales& scales) {
    nnapi_shim_error error;
    TensorList outputs;
    if (run_direct_to(arguments, scales, outputs, error) != NNAPI_SHIM_OK) raise(error);
    return outputs;
  }
  at::Tensor run_direct_to_one(const TensorList& arguments, double scale) {
    nnapi_shim_error error;
    std::vector<at::Tensor> outputs;
    if (direct_.run(arguments, scale, outputs, error) != NNAPI_SHIM_OK) raise(error);
    return std::move(outputs[0]);
  }
  TensorList try_run_direct(const TensorList& arguments, const Scales& scales) {
    return try_call(
        [&](TensorList& outputs, nnapi_shim_error& error) { return run_direct_to(arguments, scales, outputs, error); });
  }

  // Raises an error for shapes that the model can't have.
  void check(const TensorList& arguments) {
    std::vector<at::Tensor> keep;
    const std::vector<nnapi_shim_shape> shapes = shapes_of(arguments, keep);
    nnapi_shim_tensor tensor;
    nnapi_shim_error error;
    const auto count = static_cast<uint32_t>(shapes.size());
    if (nnapi_shim_output(model_, shapes.data(), count, 0, &tensor, &error) != NNAPI_SHIM_OK) raise(error);
  }

  bool uses_cpu() { return select_.next() == AutoSelect::Side::kCpu; }
  int64_t clock() const { return now(); }
  void cpu_ran(int64_t begin) { select_.ran(AutoSelect::Side::kCpu, static_cast<uint64_t>(now() - begin)); }

  void warm_up(const TensorList& arguments) {
    std::vector<at::Tensor> keep;
    const std::vector<nnapi_shim_shape> shapes = shapes_of(arguments, keep);
    nnapi_shim_error error;
    const int status = nnapi_shim_warm_up(model_, shapes.data(), static_cast<uint32_t>(shapes.size()), &error);
    if (status != NNAPI_SHIM_OK) raise(error);
  }

  void configure(const Options& options) {
    const nnapi_shim_options values = shim_options(options);
    nnapi_shim_error error;
    if (nnapi_shim_configure(model_, &values, &error) != NNAPI_SHIM_OK) raise(error);
    if (!options.contains("auto_select") || whole_number("auto_select", options.at("auto_select")) == 0) return;
    select_.measure(values.cache_directory != nullptr ? choice_file(values.cache_directory) : "");
  }

  // Returns the side on which the next call runs ("measuring" until it is chosen), the model of a package, and NNAPI's
  // newest failure, if any.
  std::string state() {
    nnapi_shim_error failure;
    nnapi_shim_last_failure(model_, &failure);
    std::string text = select_.choice();
    char choice[1024];
    nnapi_shim_choice(model_, choice, sizeof choice);
    if (choice[0] != '\0') text += std::string(", ") + choice;
    if (failure.status != NNAPI_SHIM_OK) text += std::string(": ") + failure.message;
    return text;
  }

  // Returns the names of the devices that the newest shapes are compiled for; empty before, or if NNAPI chose.
  std::string devices() {
    nnapi_shim_profile profile;
    nnapi_shim_get_profile(model_, &profile);
    return profile.devices;
  }

  c10::Dict<std::string, int64_t> profile() {
    nnapi_shim_profile profile;
    nnapi_shim_get_profile(model_, &profile);
    c10::Dict<std::string, int64_t> result;
    const auto put = [&result](const char* name, uint64_t value) { result.insert(name, static_cast<int64_t>(value)); };
    put("build_ns", profile.build_ns);
    put("compile_ns", profile.compile_ns);
    put("executions", profile.executions);
    put("last_execute_ns", profile.last_execute_ns);
    put("total_execute_ns", profile.total_execute_ns);
    put("last_on_device_ns", profile.last_on_device_ns);
    put("last_in_driver_ns", profile.last_in_driver_ns);
    put("compiled", profile.compiled);
    put("check_ns", profile.check_ns);
    put("checked_samples", profile.checked_samples);
    put("feature_level", profile.feature_level);
    put("weight_bytes", profile.weight_bytes);
    return result;
  }

 private:
  struct Call {
    const TensorList& arguments;
    const TensorList& inputs;
    const Scales& scales;  // the scales of the outputs
  };

  template <typename Run>
  TensorList try_call(const Run& run_one) {
    nnapi_shim_error error;
    TensorList outputs;
    const int64_t begin = now();
    const int status = run_one(outputs, error);
    if (status == NNAPI_SHIM_OK) {
      select_.ran(AutoSelect::Side::kNnapi, static_cast<uint64_t>(now() - begin));
      return outputs;
    }
    if (status == NNAPI_SHIM_BAD_ARGUMENT || status == NNAPI_SHIM_BAD_MODEL) raise(error);
    select_.failed(is_for_good(status));
    return TensorList();
  }

  int run_direct_to(const TensorList& arguments, const Scales& scales, TensorList& outputs, nnapi_shim_error& error) {
    std::vector<at::Tensor> results;
    const int status = direct_.run(arguments, scales.vec(), results, error);
    for (at::Tensor& result : results) outputs.push_back(std::move(result));
    return status;
  }

  int run_to(const Call& call, TensorList& outputs, nnapi_shim_error& error) {
    std::vector<at::Tensor> keep;
    const std::vector<nnapi_shim_shape> shapes = shapes_of(call.arguments, keep);
    const auto count = static_cast<uint32_t>(shapes.size());
    std::vector<nnapi_shim_buffer> from;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      nnapi_shim_tensor tensor;
      const int status = nnapi_shim_input(model_, shapes.data(), count, static_cast<uint32_t>(i), &tensor, &error);
      if (status != NNAPI_SHIM_OK) return status;
      keep.push_back(call.inputs.get(i).contiguous());
      check_input(keep.back(), tensor, i);
      check_shape(keep.back(), tensor, i);
      from.push_back({keep.back().data_ptr(), keep.back().nbytes()});
    }
    TORCH_CHECK(call.scales.size() == nnapi_shim_output_count(model_), "nnapi-convert: ", call.scales.size(),
                " output scales found, ", nnapi_shim_output_count(model_), " needed");
    std::vector<nnapi_shim_buffer> to;
    for (uint32_t i = 0; i < nnapi_shim_output_count(model_); ++i) {
      nnapi_shim_tensor tensor;
      const int status = nnapi_shim_output(model_, shapes.data(), count, i, &tensor, &error);
      if (status != NNAPI_SHIM_OK) return status;
      const at::Tensor output = empty_output(tensor, call.scales.get(i));
      to.push_back({output.data_ptr(), output.nbytes()});
      outputs.push_back(output);
    }
    return nnapi_shim_run(model_, shapes.data(), count, from.data(), static_cast<uint32_t>(from.size()), to.data(),
                          static_cast<uint32_t>(to.size()), &error);
  }

  // Returns the path of the file that keeps the choice; the checksums of the buffer and the weights name it.
  std::string choice_file(const std::string& directory) const {
    const auto* words = static_cast<const uint32_t*>(words_.data_ptr());
    char name[64];
    std::snprintf(name, sizeof name, "/nnapi_shim_%08x%08x.choice", words[format::kChecksum],
                  words[format::kWeightChecksum]);
    return directory + name;
  }

  const at::Tensor words_, weights_;
  nnapi_shim_model* model_ = nullptr;
  AutoSelect select_;
  DirectCall direct_{model_};
};

namespace {

using State = std::tuple<at::Tensor, at::Tensor>;

// The pickled state has the weights first, so that they are the archive's first record, which is aligned for mapping.
const auto kRegistration =
    torch::class_<Compilation>("nnapi_convert", "Compilation")
        .def(torch::init<at::Tensor, at::Tensor>())
        .def("run", &Compilation::run)
        .def("try_run", &Compilation::try_run)
        .def("run_direct", &Compilation::run_direct)
        .def("run_direct_to_one", &Compilation::run_direct_to_one)
        .def("try_run_direct", &Compilation::try_run_direct)
        .def("check", &Compilation::check)
        .def("uses_cpu", &Compilation::uses_cpu)
        .def("clock", &Compilation::clock)
        .def("cpu_ran", &Compilation::cpu_ran)
        .def("warm_up", &Compilation::warm_up)
        .def("configure", &Compilation::configure)
        .def("state", &Compilation::state)
        .def("devices", &Compilation::devices)
        .def("profile", &Compilation::profile)
        .def_pickle([](const c10::intrusive_ptr<Compilation>& self) { return State(self->weights(), self->words()); },
                    [](const State& state) {
                      return c10::make_intrusive<Compilation>(std::get<1>(state), std::get<0>(state));
                    });

}  // namespace

c10::IValue make_compilation(const at::Tensor& words, const at::Tensor& weights) {
  return c10::IValue(c10::make_intrusive<Compilation>(words, weights));
}

CompilationTensors tensors_of(const c10::IValue& compilation) {
  const auto self = compilation.toCustomClass<Compilation>();
  return {self->words(), self->weights()};
}

}  // namespace nnapi_shim
