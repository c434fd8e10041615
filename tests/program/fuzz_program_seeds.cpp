// SPDX-License-Identifier: BSD-3-Clause
// Writes inputs from which the fuzzer of programs starts: fuzz_program_seeds FOLDER.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "lib/program/operator_table.h"
#include "tests/program/program_maker.h"

namespace {

using namespace nnapi_shim::program_testing;
using nnapi_convert::program_format::Opcode;
using nnapi_convert::program_format::ScalarType;

void write(const std::filesystem::path& folder, const std::string& name, uint8_t kind, const std::string& bytes) {
  std::ofstream file(folder / name, std::ios::binary);
  file.put(static_cast<char>(kind));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_record(const std::filesystem::path& folder, const std::string& name, ProgramMaker& make, const Code& code,
                  uint32_t result, const Code* on_cpu = nullptr) {
  MadeMethod method;
  method.registers = 24;
  method.arguments = {{"x", "Tensor"}, {"n", "int"}, {"b", "bool"}};
  method.result_type = "List[Tensor]";
  method.result = result;
  method.code = code;
  make.add_method(method);
  if (on_cpu != nullptr) {  // of the segment
    method.arguments.resize(1);
    method.code = *on_cpu;
    method.result = 1;
    make.add_method(method);
  }
  const std::vector<uint8_t> record = make.make_record();
  write(folder, name, 0, {record.begin(), record.end()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "fuzz_program_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  {
    ProgramMaker make;
    const uint32_t yes = make.boolean(true), zero = make.integer(0);
    const Code body = make.op("aten::add.int", {5, 1}, {6}) + make.op("aten::lt.int", {6, make.integer(20)}, {7});
    const Code code = make.loop(make.integer(9), yes, {zero}, {3}, {4, 5}, 7, {6}, body) +
                      make.if_(2, {8}, make.op("aten::neg.int", {3}, {9}), {9}, {}, {zero}) +
                      make.make(Opcode::kList, {8, 3}, 10) + make.unpack(10, {11, 12}) + make.drop({10});
    write_record(folder, "control", make, code, 11);
  }
  {
    ProgramMaker make;
    make.add_segment(1, 1, 2);
    const uint32_t table = make.floats({2}, {1, 2});
    make.set_state(make.object({make.integer(0), table, make.list({make.none()}), make.device(), make.real(2.5)}));
    const uint32_t key = make.text("key");
    const Code code =
        make.get_state(3) + make.get_field(3, 1, 4) + make.segment(0, {4}, {5}) + make.set_field(3, 1, 5) +
        make.make(Opcode::kDict, {key, 5, make.text("other"), 0}, 6) +
        make.op("aten::__getitem__.Dict_str", {6, key}, {7}) + make.make_object(2, 8) + make.set_field(8, 1, 7) +
        make.make(Opcode::kTuple, {8, make.tuple({table}), make.dict({key, table})}, 9) +
        make.if_(2, {},
                 make.op("aten::format", {make.text("{} {}"), 9, 1}, {10}, "net.py:3") + make.raise(10, "net.py:4"), {},
                 {}, {});
    const Code on_cpu = make.op("aten::relu", {0}, {2}) + make.make(Opcode::kTuple, {2}, 1);
    write_record(folder, "state", make, code, 7, &on_cpu);
  }
  // Each operator with arguments of several kinds, in both forms.
  uint32_t number = 0;
  std::string calls;
  const auto add = [&](const nnapi_shim::program::Operator& row) {
    for (uint32_t variant = 0; variant < 3; ++variant) {
      std::string call = {static_cast<char>(number & 0xff), static_cast<char>(number >> 8)};
      const uint32_t inputs = row.inputs == nnapi_shim::program::kAny ? 2 : row.inputs;
      if (row.inputs == nnapi_shim::program::kAny) call += '\2';
      for (uint32_t i = 0; i < inputs; ++i) {
        const uint32_t tensors[] = {30, 31, 32};  // of rank 2 and 4
        call += static_cast<char>(i < variant ? tensors[variant] : variant == 0 ? 27 + i : 6 + i);
      }
      calls += call;
    }
    ++number;
    if (number % 8 != 0) return;
    write(folder, "calls" + std::to_string(number), 1, calls);
    calls.clear();
  };
  nnapi_shim::program::visit_rows([&](const nnapi_shim::program::Operator& row, std::string_view) {
    add(row);
    return false;
  });
  write(folder, "calls", 1, calls);
  return 0;
}
