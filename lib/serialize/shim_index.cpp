#include "lib/serialize/shim_index.h"

#include <fmt/format.h>

namespace nnapi_convert {
namespace {

// The state of each compilation begins with its weights, and has its words next.
std::string records(size_t segment) {
  return fmt::format("data/{}\ndata/{}\n", 2 * segment + 1, 2 * segment);
}

std::string line_of(const std::vector<ShimWire>& wires) {
  std::string line;
  for (const ShimWire& wire : wires) {
    line += line.empty() ? "" : " ";
    line += wire.segment ? fmt::format("s{}.{}", *wire.segment, wire.number) : fmt::format("a{}", wire.number);
  }
  return line + "\n";
}

}  // namespace

std::string shim_index() {
  return records(0);
}

std::string shim_index(const ShimWiring& wiring) {
  std::string text = fmt::format("segments {}\n{}\n", wiring.inputs.size(), wiring.arguments);
  for (size_t i = 0; i < wiring.inputs.size(); ++i) text += records(i) + line_of(wiring.inputs[i]);
  return text + line_of(wiring.outputs);
}

}  // namespace nnapi_convert
