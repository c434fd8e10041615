// SPDX-License-Identifier: BSD-3-Clause
// Messages: their parts, and what happens to long ones.
#include "lib/shim/failure.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "lib/format/operation_table.h"
#include "lib/shim/name_list.h"
#include "lib/shim/nnapi_names.h"
#include "lib/shim/operation_text.h"

using namespace nnapi_shim;

TEST_CASE("names of codes are those of the operations table") {
  for (int32_t code = 0; code < 200; ++code) {
    const std::string known = nnapi_convert::name_of(static_cast<nnapi_convert::OperationCode>(code));
    if (known == "unknown") {
      CHECK(std::string(operation_name(code)) == "an operation that this library has no name for");
    } else {
      CHECK(operation_name(code) == known);
    }
  }
  CHECK(std::string(operation_name(105)) == "REVERSE");
  CHECK(std::string(operation_name(-1)) == "an operation that this library has no name for");
  CHECK(std::string(result_name(0)) == "ANEURALNETWORKS_NO_ERROR");
  CHECK(std::string(result_name(14)) == "ANEURALNETWORKS_DEAD_OBJECT");
  CHECK(std::string(result_name(15)) == "an unknown result code");
}

TEST_CASE("lists of names end with a count of what does not fit") {
  NameList list;
  for (int i = 0; i < 100; ++i) list.add("item%02d", i);
  const std::string text = list.text();
  CHECK(list.count() == 100);
  CHECK(text.substr(0, 14) == "item00, item01");
  const size_t end = text.rfind(" and ");
  REQUIRE(end != std::string::npos);
  const int shown = static_cast<int>((end + 2) / 8);
  CHECK(text.substr(end) == " and " + std::to_string(100 - shown) + " more");
  NameList long_name;
  long_name.add("%s", std::string(1000, 'x').c_str());
  CHECK(std::string(long_name.text()) == "1 with long names");
}

TEST_CASE("operations in messages") {
  OperationView operation;
  operation.code = 3;
  CHECK(std::string(OperationText(operation, 7).text()) == "operation 7 CONV_2D");
  operation.name = "features.0";
  CHECK(std::string(OperationText(operation, 7).text()) == "operation 7 CONV_2D (features.0)");
  operation.source = "net.py:5";
  CHECK(std::string(OperationText(operation, 7).text()) == "operation 7 CONV_2D (features.0, net.py:5)");
  operation.name = "";
  CHECK(std::string(OperationText(operation, 7).text()) == "operation 7 CONV_2D (net.py:5)");
}
