#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a clean checkout to a verified NNAPI model: installs, builds, makes torchvision's MobileNetV2 (float and quantised,
# seeded weights), converts it in four ways and runs every result on the host's NNAPI.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"

demo=build/demo
float=$demo/mobilenet_v2.pt
quantised=$demo/mobilenet_v2_quant.pt

build() {
  cmake --preset release >"$demo/build.log"
  cmake --build --preset release --parallel 2 --target installed
}

nnapi_convert() {
  printf '$ nnapi-convert %s\n' "$*"
  build/release/bin/nnapi-convert "$@"
}

convert_float() {
  nnapi_convert "$float" --nhwc -o "$demo/out_float.pt" --verify
}

convert_quantised() {
  local out=$demo/out_$1.pt
  nnapi_convert "$quantised" --nhwc --quant "$1" -o "$out"
  nnapi_convert verify "$quantised" "$out" --reference "$float"
}

sizes() {
  local file
  for file in "$float" "$quantised" "$demo"/out_*.pt; do
    printf '%8d kB  %s\n' "$(($(stat -c %s "$file") / 1000))" "$file"
  done
}

mkdir -p "$demo"
step "install packages" ./scripts/install.sh
step "build" build
step "make MobileNetV2, float and quantised" ./scripts/makers/make_models.py --group demo "$demo"
step "float model" convert_float
for mode in core full nnapi; do
  step "quantised model, --quant $mode" convert_quantised "$mode"
done
step_times
printf '\n== files\n'
sizes
printf '\nEvery out_*.pt ran on the NNAPI of this machine and agreed with the original.\n'
printf 'How to use one in an Android app: docs/android.md\n'
