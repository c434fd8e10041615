#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs LiteRT for Node into build/litert, for `nnapi-convert verify model.pt out.tflite` and for tests: npm's packages
# as tools/litert-runner/package-lock.json pins them. Does nothing if they are there. scripts/install.sh --tests brings Node.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p build/litert
lock=tools/litert-runner/package-lock.json
if cmp -s "$lock" build/litert/package-lock.json && [[ -d build/litert/node_modules/@litertjs/core ]]; then
  exit 0
fi
cp tools/litert-runner/package.json build/litert/
cp "$lock" build/litert/package-lock.json
cd build/litert
npm ci --no-audit --no-fund --ignore-scripts
