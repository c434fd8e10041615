#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests reports' pages in a browser, and the graphs for Graphviz with its dot: Chromium is too large for every run of the
# tests. Needs what scripts/install.sh --tests installs, and installs chromium, chromium-driver, python3-selenium and graphviz.
#   NNAPI_CONVERT_BUILD=FOLDER  a build folder that is up to date; without it build/release is built
#   NNAPI_PAGE_SHOTS=FOLDER     keep pictures of the pages there
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
cd "$ROOT"

step "install packages" ./scripts/install.sh --tests chromium chromium-driver python3-selenium graphviz fonts-dejavu-core
if [[ -z ${NNAPI_CONVERT_BUILD:-} ]]; then
  step "configure" cmake --preset release
  step "build" cmake --build --preset release --parallel 2
fi
export NNAPI_CONVERT_BUILD=${NNAPI_CONVERT_BUILD:-$ROOT/build/release} PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
export NNAPI_CONVERT=$NNAPI_CONVERT_BUILD/bin/nnapi-convert LD_LIBRARY_PATH=$NNAPI_CONVERT_BUILD/lib/host
step "test pages in a browser" "$PYTHON" tests/page/browser_test.py
step_times
