#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks nnapi-convert against PyTorch's Python prototype. Needs the release build and Debian's PyTorch, no network.
# Arguments go to bench.py: --runs N, --only MODEL..., --check.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/release/bin/nnapi-convert ]]; then
  echo "build first: ./scripts/demo.sh, or cmake --preset release && cmake --build --preset release" >&2
  exit 1
fi
./scripts/makers/make_models.py --group bench build/bench
exec /usr/bin/python3 bench/bench.py "$@"
