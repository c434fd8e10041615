#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and tests what a change in these folders breaks first, in build/release: a few minutes in place of all that
# scripts/test.sh does.
#   scripts/quick.sh lib/ops testdata/ops
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"

targets=()
tests=()

add() { # TARGETS TESTS: names of CMake's targets, and a regular expression of ctest's names
  read -ra more <<<"$1"
  targets+=("${more[@]}")
  tests+=("$2")
}

add_folder() {
  case ${1%/}/ in
    lib/base/* | lib/types/* | tests/base/*) add base_test '^base:' ;;
    lib/format/* | lib/shim/* | lib/shim_files/* | tests/shim/*)
      add "shim_test shim_buffer_test buffer_test nnapi_shim nnapi-probe" '^(shim|buffer):' ;;
    lib/serialize/* | tests/serialize/*) add "buffer_test converter_test" '^buffer:|^converter/' ;;
    lib/host_runtime/* | tests/host_runtime/*) add "host_runtime_test host_level_test neuralnetworks" '^host_(runtime|level)_test' ;;
    lib/nnapi/* | tests/nnapi/*) add nnapi_test '^nnapi:' ;;
    lib/quantise/* | lib/base/* | tests/quantise/*) add quantise_test '^quantise:' ;;
    lib/ops/* | testdata/ops/* | testdata/bad/* | tests/ops/*)
      add "op_cases op_traits_test" '^bad$|^ops/[a-z_]+$' ;;
    lib/converter/graph/* | lib/converter/frontend/* | lib/converter/plan/*)
      add "op_cases converter_test" '^bad$|^ops/[a-z_]+$|^converter/' ;;
    lib/converter/load/* | tests/exported/*) add "exported_test nnapi-convert" '^exported:|^cli_exported' ;;
    lib/converter/* | tests/converter/*) add "converter_test nnapi-convert" '^converter/|^cli_partition_Limits' ;;
    tools/python/* | tests/python/*) add nnapi-convert '^python_' ;;
    tools/nnapi-convert/* | lib/report_page/* | testdata/cli/*) add nnapi-convert '^cli_case_' ;;
    *) complain "$1: no folder that this script knows; lib/..., tests/..., testdata/... or tools/nnapi-convert needed" ;;
  esac
}

complain() {
  echo "$1" >&2
  exit 2
}

(($# > 0)) || complain "folders needed, for example: scripts/quick.sh lib/ops"
for folder in "$@"; do add_folder "$folder"; done
[[ -f build/release/build.ninja ]] || step "configure" cmake --preset release
step "build" cmake --build --preset release --parallel "$(nproc)" --target "${targets[@]}"
pattern=$(IFS='|' && echo "${tests[*]}")
step "test" ctest --preset release --parallel "$(nproc)" --no-tests=error -R "$pattern" -E '^ops/(random|ranks)$'
step_times
