// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <vector>

#include "lib/program/pool.h"

// Catch's header defines macros that other headers must not see.
#include <catch2/catch.hpp>

using nnapi_shim::program::Pool;

TEST_CASE("a pool gives aligned memory of each size") {
  Pool pool;
  for (const size_t bytes : {0, 1, 63, 64, 65, 1000, 1024, 1025, 1280, 1281, 5000, 1 << 20, (1 << 20) + 1}) {
    void* memory = pool.take(bytes);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
    std::memset(memory, 1, bytes);
    CHECK(pool.bytes_in_use() >= bytes);
    pool.give_back(memory);
    CHECK(pool.bytes_in_use() == 0);
  }
}

TEST_CASE("memory that was given back is given out again") {
  Pool pool;
  void* first = pool.take(5000);
  pool.give_back(first);
  const size_t reserved = pool.bytes_reserved();
  void* second = pool.take(4990);
  CHECK(second == first);
  CHECK(pool.bytes_reserved() == reserved);
  // A larger block serves, too, but not one of more than double.
  pool.give_back(second);
  void* smaller = pool.take(3500);
  CHECK(smaller == first);
  pool.give_back(smaller);
  void* tiny = pool.take(1100);
  CHECK(tiny != first);
  pool.give_back(tiny);
}

TEST_CASE("a pool refuses what no memory holds") {
  Pool pool;
  CHECK(pool.take(SIZE_MAX) == nullptr);
  CHECK(pool.take(SIZE_MAX / 2) == nullptr);
  pool.set_limit(1 << 20);
  void* memory = pool.take(500 << 10);
  REQUIRE(memory != nullptr);
  CHECK(pool.take(600 << 10) == nullptr);
  pool.give_back(memory);
  // What is kept makes room.
  memory = pool.take(900 << 10);
  CHECK(memory != nullptr);
  pool.give_back(memory);
}

TEST_CASE("a pool frees what was not given back") {
  Pool pool;
  CHECK(pool.take(100) != nullptr);
}
