// SPDX-License-Identifier: BSD-3-Clause
#include "tools/nnapi-convert/run_program.h"

int main(int argc, char** argv) {
  nnapi_convert::run_program(argc, argv);
}
