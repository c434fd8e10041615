#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shim_size.sh FILE...: bytes of the shim for arm64, stripped, with all operators of programs and with those that FILE...
# call (nnapi-convert shim --for). Needs what `scripts/systems/test-architecture.sh arm64 core` left in build/, clang and lld.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sysroot=$root/build/arm64-root
convert=$root/build/release/bin/nnapi-convert
[[ $# -gt 0 && -d $sysroot ]] || {
  echo "shim_size.sh: needed: FILE..., and build/arm64-root by scripts/systems/test-architecture.sh arm64 core" >&2
  exit 2
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the bytes of the library that the sources in a folder make. Further arguments are for the linker.
built_bytes() {
  local sources=$1
  shift
  cmake -S "$sources" -B "$work/build" -G Ninja --fresh -DCMAKE_BUILD_TYPE=Release -DNNAPI_SHIM_JAVA=OFF \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_CXX_COMPILER_TARGET=aarch64-linux-gnu -DCMAKE_SYSROOT="$sysroot" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
    -DCMAKE_SHARED_LINKER_FLAGS="-fuse-ld=lld -Wl,--icf=safe -Wl,-O2 -Wl,-z,noseparate-code $*" >/dev/null
  cmake --build "$work/build" --target nnapi_shim >/dev/null
  llvm-strip "$work/build/libnnapi_shim.so"
  stat -c %s "$work/build/libnnapi_shim.so"
}

"$convert" shim --emit "$work/all"
"$convert" shim --emit "$work/some" --for "$@"
selected=$(grep -c '^PROGRAM_SELECTED_OPERATOR' "$work/some/lib/program/selected_operators.inc" || true)
for kind in all some; do
  [[ $kind == all ]] && name="all operators" || name="the $selected operators of $# files"
  echo "$name: $(built_bytes "$work/$kind") bytes; linked as for Android:" \
    "$(built_bytes "$work/$kind" -Wl,--pack-dyn-relocs=android)"
done
