#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds nnapi-convert and runs all its tests; ctest's summary comes last.
#   NNAPI_CONVERT_WERROR=ON  warnings are errors; unset, the build folder keeps what it has
#   NNAPI_VECTORS=PATH       Android's conformance cases, an archive or a folder; without them those tests are skipped
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"

run_tests() {
  ctest --preset "$1" --parallel 2 --no-tests=error --output-log "build/ctest-$1.log"
}

step "install packages" ./scripts/install.sh --tests
step "configure" cmake --preset release ${NNAPI_CONVERT_WERROR:+"-DNNAPI_CONVERT_WERROR=$NNAPI_CONVERT_WERROR"}
step "build" cmake --build --preset release --parallel 2
step "install LiteRT for Node" ./scripts/install-litert.sh || echo "LiteRT is missing: its tests are skipped"
step "make test models" ./scripts/makers/make_models.py build/models
step "configure with sanitizers" cmake --preset asan
step "build with sanitizers" cmake --build --preset asan --parallel 2
step "test with sanitizers" run_tests asan
step "configure the host's NNAPI with sanitizers" cmake --preset fuzz
step "build the host's NNAPI with sanitizers" cmake --build --preset fuzz --parallel 2
step "test the host's NNAPI with sanitizers" run_tests fuzz
step "test" run_tests release

step_times
for preset in asan fuzz release; do
  printf '\n%s: ' "$preset"
  sed -n '/tests passed/,$p' "build/ctest-$preset.log"
done
