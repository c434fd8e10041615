// SPDX-License-Identifier: BSD-3-Clause
#include "lib/litert/flatbuffer.h"

#include <catch2/catch.hpp>

using namespace nnapi_convert::litert;

namespace {

template <typename Number>
Number number_at(const std::string& bytes, uint64_t place) {
  Number number;
  REQUIRE(place + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

// Where a field of the root lies, by its vtable; 0: nowhere.
uint64_t root_field(const std::string& bytes, int id) {
  const uint64_t root = number_at<uint32_t>(bytes, 0);
  const uint64_t vtable = root - static_cast<uint64_t>(number_at<int32_t>(bytes, root));
  const auto slot = static_cast<uint64_t>(2 * (id + 2));
  if (slot >= number_at<uint16_t>(bytes, vtable)) return 0;
  const auto offset = number_at<uint16_t>(bytes, vtable + slot);
  return offset == 0 ? 0 : root + offset;
}

}  // namespace

TEST_CASE("numbers lie where the vtable says, aligned, and defaults nowhere") {
  Table root;
  root.set(0, static_cast<int8_t>(7));
  root.set(1, int32_t{3}, int32_t{3});
  root.set(2, uint64_t{1} << 40U);
  root.set(5, 1.5F);
  const FileLayout layout = lay_out(root, "TST3", {});
  CHECK(layout.head.substr(4, 4) == "TST3");
  CHECK(number_at<int8_t>(layout.head, root_field(layout.head, 0)) == 7);
  CHECK(root_field(layout.head, 1) == 0);
  CHECK(number_at<uint64_t>(layout.head, root_field(layout.head, 2)) == uint64_t{1} << 40U);
  CHECK(root_field(layout.head, 2) % 8 == 0);
  CHECK(number_at<float>(layout.head, root_field(layout.head, 5)) == 1.5F);
  CHECK(root_field(layout.head, 9) == 0);
}

TEST_CASE("vectors have their size before them, and their elements are aligned") {
  Table root;
  root.set_numbers(0, std::vector<int64_t>{1, -2, 3});
  root.set_text(1, "names");
  const std::string head = lay_out(root, "TST3", {}).head;
  const uint64_t field = root_field(head, 0), vector = field + number_at<uint32_t>(head, field);
  CHECK(number_at<uint32_t>(head, vector) == 3);
  CHECK((vector + 4) % 8 == 0);
  CHECK(number_at<int64_t>(head, vector + 12) == -2);
  const uint64_t text_field = root_field(head, 1), text = text_field + number_at<uint32_t>(head, text_field);
  CHECK(number_at<uint32_t>(head, text) == 5);
  CHECK(head.substr(text + 4, 6) == std::string("names\0", 6));
}

TEST_CASE("data lie behind the tables at multiples of 16, and offsets lead to them") {
  Table first, second, root;
  first.set_data(0, 1);
  second.set_data(0, 0);
  root.set_tables(0, {first, second});
  const FileLayout layout = lay_out(root, "TST3", {5, 100});
  REQUIRE(layout.data_begin.size() == 2);
  CHECK(layout.data_begin[0] >= layout.head.size() + 4);
  for (const uint64_t begin : layout.data_begin) CHECK(begin % 16 == 0);
  CHECK(layout.data_begin[1] >= layout.data_begin[0] + 5 + 4);
  CHECK(layout.bytes == layout.data_begin[1] + 100);
  const uint64_t field = root_field(layout.head, 0), vector = field + number_at<uint32_t>(layout.head, field);
  const uint64_t table = vector + 4 + number_at<uint32_t>(layout.head, vector + 4);
  CHECK(number_at<uint32_t>(layout.head, table + 4) + table + 4 == layout.data_begin[1] - 4);
}
