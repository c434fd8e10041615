// SPDX-License-Identifier: BSD-3-Clause
#include "lib/serialize/row_calls_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/serialize/source_text.h"

namespace nnapi_convert {
namespace {

// Returns the sizes as a list with `rows` at the axis of the rows and, if `others` is given, `others` at the other
// axes.
std::string sizes_text(const RowCallTensor& tensor, const std::string& rows, const std::string& others = "") {
  std::vector<std::string> sizes;
  for (size_t i = 0; i < tensor.type.rank(); ++i) {
    sizes.push_back(i == *tensor.axis ? rows : others.empty() ? tensor.type.dims[i].text() : others);
  }
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

class RowCallsSource {
 public:
  RowCallsSource(const RowCalls& calls, const std::string& self) : calls_(calls), self_(self) {}

  std::string text() {
    line(2, fmt::format("def {}(self: {}{}) -> {}:", row_calls_method(calls_.segment), self_, parameters(),
                        result_type()));
    count_rows();
    for (size_t i = 0; i < calls_.outputs.size(); ++i) {
      line(4, fmt::format("nnapi_parts_{} = annotate(List[Tensor], [])", i));
    }
    const int64_t rows = calls_.rows;
    line(4, fmt::format("nnapi_calls = torch.floordiv(torch.add(nnapi_count, {}), {})", rows - 1, rows));
    line(4, "for nnapi_call in range(nnapi_calls):");
    call();
    for (size_t i = 0; i < calls_.outputs.size(); ++i) join(i);
    line(4, "return " + result());
    return std::move(text_);
  }

 private:
  void line(size_t indent, const std::string& content) { text_ += std::string(indent, ' ') + content + "\n"; }

  std::string parameters() const {
    std::string text;
    for (const RowCallTensor& input : calls_.inputs) text += fmt::format(", {}: Tensor", input.name);
    return text;
  }

  bool has_one_output() const { return calls_.outputs.size() == 1; }

  std::string result_type() const {
    if (has_one_output()) return "Tensor";
    return fmt::format("Tuple[{}]", fmt::join(std::vector<std::string>(calls_.outputs.size(), "Tensor"), ", "));
  }

  std::string result() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < calls_.outputs.size(); ++i) names.push_back(fmt::format("nnapi_all_{}", i));
    return has_one_output() ? names[0] : fmt::format("({})", fmt::join(names, ", "));
  }

  // Counts the rows. Checks the other sizes only for 0 rows: otherwise each call of the segment checks them.
  void count_rows() {
    const RowCallTensor& first = *std::find_if(calls_.inputs.begin(), calls_.inputs.end(),
                                               [](const RowCallTensor& input) { return input.axis.has_value(); });
    line(4, fmt::format("nnapi_count = torch.size({}, {})", first.name, *first.axis));
    for (const RowCallTensor& input : calls_.inputs) {
      if (!input.axis) continue;
      line(4, fmt::format("nnapi_needed = {}", sizes_text(input, "nnapi_count")));
      line(4, fmt::format("if torch.ne(torch.size({}), nnapi_needed):", input.name));
      line(6,
           fmt::format("ops.prim.RaiseException(torch.format(\"nnapi-convert: segment {}: input {}: shape {{}} found, "
                       "{{}} needed\", torch.size({}), nnapi_needed))",
                       calls_.segment, input.name, input.name));
      line(4, "else:");
      line(6, "pass");
    }
  }

  void call() {
    line(6, fmt::format("nnapi_begin = torch.mul(nnapi_call, {})", calls_.rows));
    line(6, fmt::format("nnapi_end = torch.add(nnapi_begin, {})", calls_.rows));
    line(6, "nnapi_missing = torch.sub(nnapi_end, nnapi_count)");
    std::string arguments;
    for (size_t i = 0; i < calls_.inputs.size(); ++i) {
      const RowCallTensor& input = calls_.inputs[i];
      if (input.axis) take_rows(input, i);
      arguments += (input.axis ? fmt::format("nnapi_rows_{}", i) : input.name) + ", ";
    }
    const std::string called = fmt::format("(self.segment_{}).forward({})", calls_.segment, arguments);
    if (has_one_output()) {
      line(6, "nnapi_part_0 = " + called);
    } else {
      std::string targets;
      for (size_t i = 0; i < calls_.outputs.size(); ++i) targets += fmt::format("nnapi_part_{}, ", i);
      line(6, fmt::format("{}= {}", targets, called));
    }
    for (size_t i = 0; i < calls_.outputs.size(); ++i) {
      line(6, fmt::format("nnapi_kept_{0} = torch.append(nnapi_parts_{0}, nnapi_part_{0})", i));
    }
  }

  void take_rows(const RowCallTensor& input, size_t number) {
    const std::string rows = fmt::format("nnapi_rows_{}", number);
    line(6, fmt::format("nnapi_taken = torch.slice({}, {}, nnapi_begin, nnapi_end, 1)", input.name, *input.axis));
    line(6, "if torch.gt(nnapi_missing, 0):");
    line(8, fmt::format("nnapi_row = torch.slice(nnapi_taken, {}, 0, 1, 1)", *input.axis));
    line(8, fmt::format("nnapi_filling = torch.expand(nnapi_row, {})", sizes_text(input, "nnapi_missing", "-1")));
    line(8, fmt::format("{} = torch.cat([nnapi_taken, nnapi_filling], {})", rows, *input.axis));
    line(6, "else:");
    line(8, rows + " = nnapi_taken");
  }

  std::string nothing(const RowCallTensor& output) const {
    const std::string sizes = sizes_text(output, "0");
    const int dtype = static_cast<int>(output.type.dtype);
    if (output.type.is_quantized()) {
      return fmt::format(
          "torch._empty_affine_quantized({}, dtype={}, layout=None, device=None, pin_memory=None, scale={}, "
          "zero_point={}, memory_format=None)",
          sizes, dtype, number(output.type.quantization.scale), output.type.quantization.zero_point);
    }
    return fmt::format("torch.empty({}, dtype={}, layout=None, device=None, pin_memory=None, memory_format=None)",
                       sizes, dtype);
  }

  void join(size_t index) {
    const RowCallTensor& output = calls_.outputs[index];
    line(4, "if torch.gt(nnapi_count, 0):");
    line(6, fmt::format("nnapi_joined = torch.cat(nnapi_parts_{}, {})", index, *output.axis));
    line(6, fmt::format("nnapi_all_{} = torch.contiguous(torch.slice(nnapi_joined, {}, 0, nnapi_count, 1))", index,
                        *output.axis));
    line(4, "else:");
    line(6, fmt::format("nnapi_all_{} = {}", index, nothing(output)));
  }

  const RowCalls& calls_;
  const std::string& self_;
  std::string text_;
};

}  // namespace

std::string row_calls_method(size_t segment) {
  return fmt::format("rows_{}", segment);
}

std::string row_calls_source(const RowCalls& calls, const std::string& self) {
  return RowCallsSource(calls, self).text();
}

}  // namespace nnapi_convert
