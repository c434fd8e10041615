#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks the shim against PyTorch's NNAPI loader. Needs the release build with tests and Debian's PyTorch, no network.
# Arguments go to shim.py: --runs N, --check.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/release/bin/nnapi-bench || ! -x build/release/bin/shim_file_run ]]; then
  echo "build first: ./scripts/demo.sh, or cmake --preset release && cmake --build --preset release" >&2
  exit 1
fi
./scripts/makers/make_models.py --only mobilenet_v2 resnet18 -- build/bench
exec /usr/bin/python3 bench/shim.py "$@"
