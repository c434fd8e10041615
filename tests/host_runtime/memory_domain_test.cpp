// SPDX-License-Identifier: BSD-3-Clause
// Memories of the runtime's own, made from descriptors, and copies between memories.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/host_runtime/simple_models.h"

using namespace simple_models;

namespace {

using Descriptor = std::unique_ptr<ANeuralNetworksMemoryDesc, decltype(&ANeuralNetworksMemoryDesc_free)>;
using Memory = std::unique_ptr<ANeuralNetworksMemory, decltype(&ANeuralNetworksMemory_free)>;

Descriptor new_descriptor() {
  ANeuralNetworksMemoryDesc* made = nullptr;
  REQUIRE(ANeuralNetworksMemoryDesc_create(&made) == 0);
  return Descriptor(made, ANeuralNetworksMemoryDesc_free);
}

Memory memory_of(const Descriptor& descriptor) {
  REQUIRE(ANeuralNetworksMemoryDesc_finish(descriptor.get()) == 0);
  ANeuralNetworksMemory* made = nullptr;
  REQUIRE(ANeuralNetworksMemory_createFromDesc(descriptor.get(), &made) == 0);
  return Memory(made, ANeuralNetworksMemory_free);
}

// For input 0 and output 0 of the compilation.
Memory memory_for(const Compiled& compiled) {
  const Descriptor descriptor = new_descriptor();
  REQUIRE(ANeuralNetworksMemoryDesc_addInputRole(descriptor.get(), compiled.compilation.get(), 0, 1.0f) == 0);
  REQUIRE(ANeuralNetworksMemoryDesc_addOutputRole(descriptor.get(), compiled.compilation.get(), 0, 0.5f) == 0);
  return memory_of(descriptor);
}

// Shared memory with floats in it.
struct Mapped {
  explicit Mapped(const std::vector<float>& values, int protect = PROT_READ | PROT_WRITE)
      : fd(memfd_create("floats", 0)), memory(nullptr, ANeuralNetworksMemory_free) {
    REQUIRE(write(fd, values.data(), values.size() * 4) == static_cast<ssize_t>(values.size() * 4));
    ANeuralNetworksMemory* made = nullptr;
    REQUIRE(ANeuralNetworksMemory_createFromFd(values.size() * 4, protect, fd, 0, &made) == 0);
    memory.reset(made);
  }
  ~Mapped() { close(fd); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::vector<float> values(std::size_t count) const {
    std::vector<float> result(count);
    REQUIRE(pread(fd, result.data(), count * 4, 0) == static_cast<ssize_t>(count * 4));
    return result;
  }
  int fd;
  Memory memory;
};

int set_input(const Execution& execution, const Memory& memory) {
  return ANeuralNetworksExecution_setInputFromMemory(execution.get(), 0, nullptr, memory.get(), 0, 0);
}

int set_output(const Execution& execution, const Memory& memory) {
  return ANeuralNetworksExecution_setOutputFromMemory(execution.get(), 0, nullptr, memory.get(), 0, 0);
}

int copy(const Memory& source, const Memory& target) {
  return ANeuralNetworksMemory_copy(source.get(), target.get());
}

}  // namespace

TEST_CASE("values stay in the runtime's memory", "[memory]") {
  const Compiled compiled(plus_one({2}));
  const Memory one = memory_for(compiled), two = memory_for(compiled);
  const Mapped start({1, 2}), end({0, 0});
  REQUIRE(copy(start.memory, one) == 0);
  for (int i = 0; i < 3; ++i) {
    const Execution execution = new_execution(compiled);
    REQUIRE(set_input(execution, i % 2 == 0 ? one : two) == 0);
    REQUIRE(set_output(execution, i % 2 == 0 ? two : one) == 0);
    REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  }
  REQUIRE(copy(two, end.memory) == 0);
  CHECK(end.values(2) == std::vector<float>{4, 5});
  CHECK(copy(one, two) == 0);
  CHECK(copy(two, end.memory) == 0);
  CHECK(end.values(2) == std::vector<float>{3, 4});
  CHECK(copy(start.memory, end.memory) == 0);
  CHECK(end.values(2) == std::vector<float>{1, 2});
}

TEST_CASE("a memory takes the dimensions of what is written", "[memory]") {
  const Compiled compiled(plus_one({0}));
  const Memory memory = memory_for(compiled);
  const Execution execution = new_execution(compiled);
  const std::vector<float> input = {1, 2, 3};
  const OperandSpec given = tensor(OperandCode::TENSOR_FLOAT32, {3});
  const ANeuralNetworksOperandType type = type_of(given);
  REQUIRE(ANeuralNetworksExecution_setInput(execution.get(), 0, &type, input.data(), 12) == 0);
  REQUIRE(set_output(execution, memory) == 0);
  REQUIRE(ANeuralNetworksExecution_compute(execution.get()) == 0);
  const Mapped three({0, 0, 0}), two({0, 0});
  CHECK(copy(memory, three.memory) == 0);
  CHECK(three.values(3) == std::vector<float>{2, 3, 4});
  refuses(kBadData, "memory copy: 12 bytes found, 8 needed", [&] { return copy(memory, two.memory); });
  refuses(kBadData, "the target's dimensions are [?], known ones needed", [&] { return copy(two.memory, memory); });
  const Execution again = new_execution(compiled);
  std::vector<float> output(3);
  REQUIRE(set_input(again, memory) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(again.get(), 0, nullptr, output.data(), 12) == 0);
  REQUIRE(ANeuralNetworksExecution_compute(again.get()) == 0);
  CHECK(output == std::vector<float>{3, 4, 5});
}

TEST_CASE("what a memory of the runtime's own refuses", "[memory]") {
  const Compiled compiled(plus_one({2})), other(plus_one({2})), wide(plus_one({3}));
  const Memory memory = memory_for(compiled), wider = memory_for(wide);
  const Execution execution = new_execution(compiled), foreign = new_execution(other);
  refuses(kBadData, "input 0: its memory's descriptor does not list this use",
          [&] { return set_input(foreign, memory); });
  refuses(kBadData, "input 0: offset 0 and length 8 found, 0 and 0 needed",
          [&] { return ANeuralNetworksExecution_setInputFromMemory(execution.get(), 0, nullptr, memory.get(), 0, 8); });
  refuses(kBadData, "memory copy: its memory holds no value yet", [&] { return copy(memory, wider); });
  const Mapped start({1, 2}), fixed({1, 2}, PROT_READ), four({1, 2, 3, 4});
  const Mapped blind({1, 2}, PROT_NONE);
  refuses(kBadData, "memory copy: the source is not readable", [&] { return copy(blind.memory, start.memory); });
  refuses(kBadData, "input 0: its memory is not readable", [&] {
    return ANeuralNetworksExecution_setInputFromMemory(execution.get(), 0, nullptr, blind.memory.get(), 0, 8);
  });
  refuses(kBadData, "operand 0: its memory is not readable", [&] {
    const Model model = new_model();
    const OperandSpec pair = tensor(OperandCode::TENSOR_FLOAT32, {2});
    const ANeuralNetworksOperandType type = type_of(pair);
    ANeuralNetworksModel_addOperand(model.get(), &type);
    return ANeuralNetworksModel_setOperandValueFromMemory(model.get(), 0, blind.memory.get(), 0, 8);
  });
  refuses(kBadData, "memory copy: the target is not writable", [&] { return copy(start.memory, fixed.memory); });
  refuses(kBadData, "memory copy: 8 bytes found, those of the target needed: 16",
          [&] { return copy(start.memory, four.memory); });
  refuses(kBadData, "memory copy: 16 bytes found, 8 needed", [&] { return copy(four.memory, memory); });
  REQUIRE(copy(start.memory, memory) == 0);
  refuses(kBadData, "memory copy: dimensions [2] found, [3] needed", [&] { return copy(memory, wider); });
  refuses(kBadData, "output 0: its memory is not writable", [&] {
    return ANeuralNetworksExecution_setOutputFromMemory(execution.get(), 0, nullptr, fixed.memory.get(), 0, 8);
  });
  refuses(kBadData, "operand 0: a memory from a descriptor can't hold a constant", [&] {
    const Model model = new_model();
    const ANeuralNetworksOperandType type = {3, 0, nullptr, 0, 0};
    ANeuralNetworksModel_addOperand(model.get(), &type);
    return ANeuralNetworksModel_setOperandValueFromMemory(model.get(), 0, memory.get(), 0, 8);
  });
}

TEST_CASE("a memory that nothing was written to", "[memory]") {
  const Compiled compiled(plus_one({2}));
  const Memory memory = memory_for(compiled);
  const Execution execution = new_execution(compiled);
  std::vector<float> output(2);
  REQUIRE(set_input(execution, memory) == 0);
  REQUIRE(ANeuralNetworksExecution_setOutput(execution.get(), 0, nullptr, output.data(), 8) == 0);
  refuses(kBadData, "input 0: its memory holds no value yet",
          [&] { return ANeuralNetworksExecution_compute(execution.get()); });
}

TEST_CASE("descriptors", "[memory]") {
  const Compiled compiled(plus_one({2, 0})), other(plus_one({0, 3})), narrow(plus_one({2, 4}));
  const Descriptor descriptor = new_descriptor();
  const auto add = [&](const Compiled& made, uint32_t index, float frequency) {
    return ANeuralNetworksMemoryDesc_addInputRole(descriptor.get(), made.compilation.get(), index, frequency);
  };
  refuses(kBadData, "memory descriptor, finish: no use found",
          [&] { return ANeuralNetworksMemoryDesc_finish(descriptor.get()); });
  ANeuralNetworksMemory* made = nullptr;
  refuses(kBadState, "createFromDesc: the memory descriptor is not finished",
          [&] { return ANeuralNetworksMemory_createFromDesc(descriptor.get(), &made); });
  refuses(kBadData, "input 1: the model has 1 only", [&] { return add(compiled, 1, 1); });
  refuses(kBadData, "frequency 0 found", [&] { return add(compiled, 0, 0); });
  refuses(kBadData, "frequency 1.5 found", [&] { return add(compiled, 0, 1.5f); });
  REQUIRE(add(compiled, 0, 1) == 0);
  refuses(kBadData, "input 0: listed before", [&] { return add(compiled, 0, 1); });
  REQUIRE(add(other, 0, 1) == 0);
  refuses(kBadData, "input 0: dimensions [2, 4] found, [2, 3] needed", [&] { return add(narrow, 0, 1); });
  const uint32_t same[] = {2, 0}, wrong[] = {3, 3};
  CHECK(ANeuralNetworksMemoryDesc_setDimensions(descriptor.get(), 2, same) == 0);
  refuses(kBadData, "setDimensions: dimensions [3, 3] found, [2, 3] needed",
          [&] { return ANeuralNetworksMemoryDesc_setDimensions(descriptor.get(), 2, wrong); });
  CHECK(ANeuralNetworksMemoryDesc_finish(descriptor.get()) == 0);
  refuses(kBadState, "memory descriptor, finish: the memory descriptor is finished already",
          [&] { return ANeuralNetworksMemoryDesc_finish(descriptor.get()); });
  refuses(kBadState, "the memory descriptor is finished already", [&] { return add(narrow, 0, 1); });
}

TEST_CASE("descriptors of other types and of compilations under way", "[memory]") {
  const Compiled compiled(plus_one({2}));
  ModelSpec codes;
  codes.add(tensor(OperandCode::TENSOR_QUANT8_ASYMM, {2}, 0.5f, 1));
  codes.add(tensor(OperandCode::TENSOR_FLOAT32, {2}));
  codes.operations = {{OperationCode::DEQUANTIZE, {0}, {1}}};
  codes.inputs = {0};
  codes.outputs = {1};
  const Compiled dequantize(codes);
  const Descriptor descriptor = new_descriptor();
  REQUIRE(ANeuralNetworksMemoryDesc_addInputRole(descriptor.get(), compiled.compilation.get(), 0, 1) == 0);
  refuses(kBadData, "TENSOR_QUANT8_ASYMM found, that of the other uses needed: TENSOR_FLOAT32",
          [&] { return ANeuralNetworksMemoryDesc_addInputRole(descriptor.get(), dequantize.compilation.get(), 0, 1); });
  const Compilation unfinished = compilation_for(compiled.model, device());
  refuses(kBadState, "input 0: the compilation is not finished",
          [&] { return ANeuralNetworksMemoryDesc_addInputRole(descriptor.get(), unfinished.get(), 0, 1); });
}

TEST_CASE("hardware buffers are not there", "[memory]") {
  ANeuralNetworksMemory* memory = nullptr;
  int buffer = 0;
  refuses(kBadData, "createFromAHardwareBuffer: this system has no such buffers", [&] {
    return ANeuralNetworksMemory_createFromAHardwareBuffer(reinterpret_cast<AHardwareBuffer*>(&buffer), &memory);
  });
  refuses(kNull, "createFromAHardwareBuffer: buffer: null found",
          [&] { return ANeuralNetworksMemory_createFromAHardwareBuffer(nullptr, &memory); });
}
