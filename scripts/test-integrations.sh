#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the rules for Bazel and the plugin for Gradle with Debian's packages of both, offline: too slow and too large for every
# run of the tests. Needs what scripts/install.sh installs, and installs bazel-bootstrap, gradle and nginx-light.
#   NNAPI_CONVERT_BUILD=FOLDER  a build folder that is up to date; without it build/release is built
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"

step "install packages" ./scripts/install.sh bazel-bootstrap gradle nginx-light
if [[ -z ${NNAPI_CONVERT_BUILD:-} ]]; then
  step "configure" cmake --preset release
  step "build" cmake --build --preset release --parallel 2
fi
export NNAPI_CONVERT_BUILD=${NNAPI_CONVERT_BUILD:-$ROOT/build/release} PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
for name in bazel gradle; do
  step "test $name" "$PYTHON" "tests/integrations/${name}_test.py"
done
step_times
