// SPDX-License-Identifier: BSD-3-Clause
#include "lib/converter/report/starting_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "lib/base/json_text.h"
#include "lib/base/value_path.h"
#include "lib/converter/emit/recorded_options.h"
#include "lib/converter/load/converted_file.h"
#include "lib/converter/load/extra_files.h"
#include "lib/converter/report/picture_text.h"
#include "lib/converter/report/program_text.h"
#include "lib/quantise/recorded_calibration.h"

namespace nnapi_convert {
namespace {

using TypeKind = nnapi_shim::program::Type::Kind;

// Returns the text as a string literal of Python and Kotlin.
std::string literal(const std::string& text) {
  return json_text(nlohmann::json(text));
}

// Returns the text for a comment or a docstring, which it must not end.
std::string in_comment(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const bool is_special = static_cast<unsigned char>(letter) < ' ' || letter == '\\' || letter == '*';
    const bool ends_text = letter == '"' && !result.empty() && result.back() == '"';
    result += is_special || ends_text ? '_' : letter;
  }
  return result;
}

// Returns the text as a string literal of Kotlin, where a $ begins an expression.
std::string kotlin_literal(const std::string& text) {
  std::string result;
  for (const char letter : literal(text)) result += letter == '$' ? std::string("\\$") : std::string(1, letter);
  return result;
}

// Returns the letters and digits of a text, each word behind the first one with a capital: "batch.image 0" is
// "batchImage0".
std::string camel_case(const std::string& text) {
  std::string name;
  bool is_new = false;
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) {
      is_new = !name.empty();
      continue;
    }
    name += is_new ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    is_new = false;
  }
  return name;
}

// Returns a name that Kotlin takes, and that is none of `taken`; adds it to `taken`.
std::string kotlin_name(const std::string& text, std::set<std::string>& taken) {
  static const std::set<std::string> kWords = {
      "as",   "break",     "class",     "continue", "do",     "else",    "false",  "for",   "fun",   "if",
      "in",   "interface", "is",        "null",     "object", "package", "return", "super", "this",  "throw",
      "true", "try",       "typealias", "typeof",   "val",    "var",     "when",   "while", "model", "module"};
  std::string name = camel_case(text);
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "x" + name;
  if (kWords.count(name) != 0) name += "Value";
  std::string result = name;
  for (int number = 2; !taken.insert(result).second; ++number) result = fmt::format("{}{}", name, number);
  return result;
}

std::string class_name(const std::string& file) {
  std::string name = camel_case(std::filesystem::path(file).stem().string());
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "Model" + name;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name == "Model" || name == "Module" || name == "Context" ? name + "File" : name;
}

bool is_open(const MetadataInput& input) {
  const Dims& dims = input.type.dims;
  return std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return !dim.is_fixed(); });
}

std::vector<int64_t> sizes_of(const MetadataInput& input) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : input.type.dims) sizes.push_back(dim.value());
  return sizes;
}

std::string argument_lines(const CodedMethod& method, const std::string& begin) {
  std::string text;
  for (const MetadataInput& input : method.inputs) {
    text += fmt::format("{}{}: {}\n", begin, in_comment(input.name), to_text(input.type));
  }
  return text;
}

GivenResult result_of(const ConvertedFile& file, bool is_tensor) {
  if (!is_tensor) return GivenResult::kOther;
  if (file.is_partitioned || file.buffers.empty() || file.buffers[0].outputs.size() != 1) return GivenResult::kTensor;
  const BufferModel& buffer = file.buffers[0];
  const BufferOperand& operand = buffer.operands.at(static_cast<size_t>(buffer.outputs[0]));
  const bool is_float = static_cast<OperandCode>(operand.type) == OperandCode::TENSOR_FLOAT32;
  return is_float ? GivenResult::kFloatTensor : GivenResult::kTensor;
}

CodedMethod coded_method(const ConvertedFile& file, const FileProgram* read) {
  CodedMethod method;
  method.name = file.metadata.method.empty() ? "forward" : file.metadata.method;
  method.inputs = file.metadata.inputs;
  const nnapi_shim::program::Method* program =
      read == nullptr ? nullptr : read->program->find_method(method.name.c_str());
  if (program != nullptr) {
    method.result = result_of(file, program->result_type.kind == TypeKind::kTensor);
    method.takes_tensors_only = std::all_of(
        program->arguments.begin(), program->arguments.end(),
        [](const nnapi_shim::program::Argument& argument) { return argument.type.kind == TypeKind::kTensor; });
  } else if (file.has_module) {
    const c10::FunctionSchema& schema = file.module.get_method("forward").function().getSchema();
    const auto is_tensor = [](const c10::Argument& value) { return value.type()->kind() == c10::TypeKind::TensorType; };
    method.result = result_of(file, schema.returns().size() == 1 && is_tensor(schema.returns()[0]));
    method.takes_tensors_only = std::all_of(schema.arguments().begin() + 1, schema.arguments().end(), is_tensor);
  }
  return method;
}

size_t count_of_labels(const std::string& path) {
  const std::string labels = read_attached(path).labels;
  return static_cast<size_t>(std::count(labels.begin(), labels.end(), '\n'));
}

// An argument of a function in Kotlin.
struct KotlinArgument {
  std::string declared;  // "x: FloatArray"
  std::string value;     // the expression that the runtime takes
};

const char* kotlin_type(const TensorType& type) {
  switch (type.dtype) {
    case at::kFloat:
      return "FloatArray";
    case at::kInt:
      return "IntArray";
    case at::kLong:
      return "LongArray";
    case at::kByte:
      return "ByteArray";
    default:
      return nullptr;
  }
}

KotlinArgument shim_argument(const MetadataInput& input, std::set<std::string>& taken) {
  const std::string name = kotlin_name(input.name, taken);
  const char* type = kotlin_type(input.type);
  if (type == nullptr) return {name + ": NnapiArray", name};
  if (is_open(input)) {
    const std::string sizes = kotlin_name(input.name + " sizes", taken);
    return {fmt::format("{}: {}, {}: LongArray", name, type, sizes),
            fmt::format("NnapiArray.of({}, *{})", name, sizes)};
  }
  const std::vector<int64_t> sizes = sizes_of(input);
  return {fmt::format("{}: {}", name, type),
          fmt::format("NnapiArray.of({}{}{})", name, sizes.empty() ? "" : ", ", fmt::join(sizes, ", "))};
}

KotlinArgument torch_argument(const MetadataInput& input, std::set<std::string>& taken) {
  const std::string name = kotlin_name(input.name, taken);
  const char* type = kotlin_type(input.type);
  if (type == nullptr) return {name + ": Tensor", name};
  const char* make = input.type.dtype == at::kByte ? "Tensor.fromBlobUnsigned" : "Tensor.fromBlob";
  if (is_open(input)) {
    const std::string sizes = kotlin_name(input.name + " sizes", taken);
    return {fmt::format("{}: {}, {}: LongArray", name, type, sizes), fmt::format("{}({}, {})", make, name, sizes)};
  }
  return {fmt::format("{}: {}", name, type),
          fmt::format("{}({}, longArrayOf({}))", make, name, fmt::join(sizes_of(input), ", "))};
}

std::string documented(const CodedMethod& method, const std::string& gives) {
  std::string text = "\n    /**\n";
  text += argument_lines(method, "     * ");
  return text + "     * " + gives + "\n     */\n";
}

// Writes the Kotlin function that runs a method by the shim.
std::string shim_function(const CodedMethod& method, std::set<std::string>& names) {
  std::vector<std::string> declared, values;
  std::set<std::string> taken;
  for (const MetadataInput& input : method.inputs) {
    const KotlinArgument argument = shim_argument(input, taken);
    declared.push_back(argument.declared);
    values.push_back(fmt::format("{} to {}", kotlin_literal(input.name), argument.value));
  }
  const bool is_float = method.result == GivenResult::kFloatTensor;
  const std::string name = kotlin_name(method.name == "forward" ? "run" : method.name, names);
  const char* gives =
      is_float ? "Gives the result's numbers in PyTorch's order."
      : method.result == GivenResult::kTensor
          ? "Gives the result, which is at the path \"\": close it after its last use."
          : "Gives the results by their paths, which NnapiResult.paths() lists: close it after their last use.";
  return documented(method, gives) + fmt::format("    fun {}({}): {} =\n        model.call({}, mapOf({})){}\n", name,
                                                 fmt::join(declared, ", "), is_float ? "FloatArray" : "NnapiResult",
                                                 kotlin_literal(method.name), fmt::join(values, ", "),
                                                 is_float ? ".use { it.get(\"\").floats() }" : "");
}

std::string torch_function(const CodedMethod& method, std::set<std::string>& names) {
  const std::string name = kotlin_name(method.name == "forward" ? "run" : method.name, names);
  const std::string call =
      method.name == "forward" ? "module.forward(" : fmt::format("module.runMethod({}, ", kotlin_literal(method.name));
  const bool is_tensor = method.result != GivenResult::kOther;
  const char* type = is_tensor ? "Tensor" : "IValue";
  const char* end = is_tensor ? ".toTensor()" : "";
  const char* gives = is_tensor ? "Gives a tensor." : "Gives what the original's method gives.";
  if (!method.takes_tensors_only) {
    return documented(method, gives) +
           fmt::format("    fun {}(vararg arguments: IValue): {} = {}*arguments){}\n", name, type, call, end);
  }
  std::vector<std::string> declared, values;
  std::set<std::string> taken;
  for (const MetadataInput& input : method.inputs) {
    const KotlinArgument argument = torch_argument(input, taken);
    declared.push_back(argument.declared);
    values.push_back(fmt::format("IValue.from({})", argument.value));
  }
  return documented(method, gives) + fmt::format("    fun {}({}): {} =\n        {}{}){}\n", name,
                                                 fmt::join(declared, ", "), type, call, fmt::join(values, ", "), end);
}

// Writes the functions for pictures, if the file knows how its pictures are prepared.
std::string picture_functions(const CodedFile& file) {
  if (!file.knows_pictures) return "";
  std::string text = fmt::format("\n    /** Runs the model on {}. */\n", file.pictures);
  text += "    fun run(picture: NnapiPicture): NnapiResult = model.run(picture)\n";
  if (file.labels == 0 || file.methods[0].result != GivenResult::kFloatTensor) return text;
  return text +
         "\n    /** The five best of the file's names. */\n"
         "    fun classify(bitmap: Bitmap): List<NnapiScore> =\n"
         "        run(NnapiPictures.of(bitmap)).use { model.top(it.get(\"\").floats(), 5) }\n";
}

std::string shim_class(const CodedFile& file, const std::string& asset) {
  const bool classifies = file.knows_pictures && file.labels > 0 && file.methods[0].result == GivenResult::kFloatTensor;
  std::string text = "import android.content.Context\n";
  if (classifies) text += "import android.graphics.Bitmap\n";
  std::vector<std::string> classes = {"NnapiArray", "NnapiAssets", "NnapiModel", "NnapiOptions"};
  if (file.knows_pictures) classes.insert(classes.end(), {"NnapiPicture", "NnapiResult"});
  if (classifies) classes.insert(classes.end(), {"NnapiPictures", "NnapiScore"});
  const bool gives_results = std::any_of(file.methods.begin(), file.methods.end(), [](const CodedMethod& method) {
    return method.result != GivenResult::kFloatTensor;
  });
  if (gives_results) classes.emplace_back("NnapiResult");
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  for (const std::string& name : classes) text += fmt::format("import org.nnapiconvert.{}\n", name);
  text += fmt::format(
      "\n/** Open it once, not on the main thread: drivers compile the model then. */\n"
      "class {}(context: Context) : AutoCloseable {{\n"
      "    private val model =\n"
      "        NnapiModel.open(NnapiAssets.copy(context, {}), NnapiOptions().cacheDirectory(context.codeCacheDir))\n",
      class_name(asset), kotlin_literal(asset));
  std::set<std::string> names = {"close"};
  for (const CodedMethod& method : file.methods) text += shim_function(method, names);
  return text + picture_functions(file) + "\n    override fun close() = model.close()\n}\n";
}

std::string torch_class(const CodedFile& file, const std::string& asset) {
  const bool is_lite = std::filesystem::path(asset).extension() == ".ptl";
  std::string text = "import org.pytorch.IValue\n";
  if (is_lite) text += "import org.pytorch.LiteModuleLoader\n";
  text += "import org.pytorch.Module\nimport org.pytorch.Tensor\n";
  text += fmt::format(
      "\n/** `path` is that of the file: copy it out of the assets first. Make a first call in the background: it "
      "compiles. */\n"
      "class {}(path: String) {{\n    private val module: Module = {}.load(path)\n",
      class_name(asset), is_lite ? "LiteModuleLoader" : "Module");
  std::set<std::string> names;
  for (const CodedMethod& method : file.methods) text += torch_function(method, names);
  return text + "}\n";
}

}  // namespace

CodedFile coded_file(const std::string& path) {
  const std::vector<ConvertedFile> files = read_converted_methods(path);
  const std::optional<FileProgram> program = read_program(path);
  CodedFile result;
  result.runtime = files[0].runtime;
  for (const ConvertedFile& file : files) result.methods.push_back(coded_method(file, program ? &*program : nullptr));
  if (const auto pixels = recorded_pixels(files[0])) {
    result.pictures = to_text(*pixels);
  } else if (const auto pictures = recorded_pictures(files[0])) {
    result.pictures = to_text(*pictures);
  }
  result.knows_pictures = !result.pictures.empty() && result.runtime == Runtime::kShim;
  result.labels = count_of_labels(path);
  return result;
}

std::string python_code(const std::optional<CodedFile>& file, const CodedPaths& paths, const std::string& version) {
  std::string arguments;
  if (file) {
    for (const CodedMethod& method : file->methods) {
      arguments += argument_lines(method, method.name == "forward" ? "    " : "    " + in_comment(method.name) + ".");
    }
  }
  const bool is_shim = file && file->runtime == Runtime::kShim;
  const bool takes_pictures = file && !file->pictures.empty();
  std::string options;
  if (is_shim) options += ", without_torch=True";
  if (!paths.torch_libraries.empty()) options += ", torch_library=LIBRARIES";
  std::vector<std::string> libraries;
  for (const std::string& library : paths.torch_libraries) {
    const bool is_path = library.find('/') != std::string::npos;
    libraries.push_back(is_path ? "str(HERE / " + literal(library) + ")" : literal(library));
  }

  std::string text = fmt::format(
      "#!/usr/bin/env python3\n"
      "\"\"\"Compares {1} with its original on this machine, and prints what both give.\n\n"
      "nnapi-convert {0} wrote this script for these two files: change it as you like. It needs NumPy and the Python "
      "module\n"
      "nnapi_convert of the same version.\n\n"
      "Arguments of the script: nothing, for made-up inputs; or .npy or .npz files, or a folder of them, with samples "
      "along\n"
      "the first axis{2}.\n",
      version, in_comment(std::filesystem::path(paths.converted).filename().string()),
      takes_pictures ? "; or a picture, or a folder of pictures, which are prepared as the app prepares them" : "");
  if (!arguments.empty()) text += "The model takes:\n\n" + arguments;
  text +=
      "\"\"\"\n\n"
      "import pathlib\nimport sys\nimport tempfile\n\n"
      "import nnapi_convert\nimport numpy\n\n";
  text += fmt::format(
      "HERE = pathlib.Path(__file__).resolve().parent\n"
      "ORIGINAL = HERE / {}\n"
      "CONVERTED = HERE / {}\n",
      literal(paths.original), literal(paths.converted));
  if (!libraries.empty()) text += fmt::format("LIBRARIES = [{}]\n", fmt::join(libraries, ", "));
  if (file && file->labels > 0) text += "LABELS = nnapi_convert.inspect(CONVERTED)[\"attached\"][\"labels\"]\n";
  text +=
      "\n\ndef shown(values):\n"
      "    \"\"\"The numbers of one result in a line.\"\"\"\n";
  if (file && file->labels > 0) {
    text +=
        "    if values.size == len(LABELS):\n"
        "        best = numpy.argsort(-values.ravel(), kind=\"stable\")[:3]\n"
        "        return \", \".join(f\"{LABELS[number]} {values.ravel()[number]:.3f}\" for number in best)\n";
  }
  text +=
      "    return f\"{values.dtype}{list(values.shape)} \" + \" \".join(f\"{number:.4g}\" for number in "
      "values.ravel()[:6])\n";
  text += fmt::format(
      "\n\ndef main():\n"
      "    inputs = sys.argv[1] if len(sys.argv) > 1 else None\n"
      "    with tempfile.TemporaryDirectory() as folder:\n"
      "        results = pathlib.Path(folder) / \"results.npz\"\n"
      "        compared = nnapi_convert.verify(ORIGINAL, CONVERTED, inputs, results=results{})\n"
      "        with numpy.load(results) as arrays:\n"
      "            for name in arrays.files:\n"
      "                if \"/inputs/\" not in name:\n"
      "                    print(f\"{{name}}: {{shown(arrays[name])}}\")\n"
      "    print(compared)  # a difference raises nnapi_convert.VerificationFailed\n"
      "\n\nif __name__ == \"__main__\":\n"
      "    try:\n"
      "        main()\n"
      "    except nnapi_convert.Error as error:\n"
      "        sys.exit(str(error))\n",
      options);
  return text;
}

std::string kotlin_code(const CodedFile& file, const std::string& name, const std::string& version) {
  const bool is_shim = file.runtime == Runtime::kShim;
  const std::string text = fmt::format(
      "// Runs {} in an app. nnapi-convert {} wrote it for this file: change it as you like.\n"
      "{}\n\n",
      in_comment(name), version,
      is_shim ? "// The classes are those of the module that `nnapi-convert shim --emit nnapi_shim` writes; the file "
                "is an asset of the app."
              : "// The classes are those of PyTorch's Android package.");
  return text + (is_shim ? shim_class(file, name) : torch_class(file, name));
}

}  // namespace nnapi_convert
