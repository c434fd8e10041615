#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and tests with another release of LibTorch: scripts/systems/test-libtorch.sh FOLDER [build [TARGET...] |
# test [CTEST_ARGUMENT...]].
#   FOLDER  a folder of unpacked packages (scripts/systems/unpack-debian.sh makes one)
#   build   only builds; an interrupted build goes on where it stopped, and errors don't stop it
#   test    only tests; the arguments choose tests as ctest's do, for example -R op_cases
# The program is built and run inside FOLDER, with its compiler and libraries, so that nothing of the system's is used.
# What it converts is then run outside of FOLDER by the program of build/release, which is built on LibTorch 1.13 as
# Android's PyTorch is. Needs root, for chroot.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
cd "$ROOT"

if (($# == 0)); then
  echo "test-libtorch.sh: no argument found, FOLDER needed" >&2
  exit 2
fi
suite=$(realpath "$1")
what=${2-all}
shift $(($# < 2 ? $# : 2))
if [[ ! -x $suite/usr/bin/cmake || ! -d $suite/usr/include/torch ]]; then
  echo "test-libtorch.sh: $suite has no cmake and LibTorch; make it by scripts/systems/unpack-debian.sh SUITE $suite" >&2
  exit 3
fi
case $what in
  all | build | test) ;;
  *)
    echo "test-libtorch.sh: $what found, build or test needed" >&2
    exit 2
    ;;
esac
release=$(cat "$suite"/usr/include/torch/{headeronly,csrc/api/include/torch}/version.h 2>/dev/null |
  sed -n 's/^#define TORCH_VERSION_M[A-Z]* //p' | head -n 2 | paste -sd . || true)
if [[ ! $release =~ ^[0-9]+\.[0-9]+$ ]]; then
  echo "test-libtorch.sh: no release of LibTorch found in $suite/usr/include/torch" >&2
  exit 3
fi
build=build/libtorch-$release

# inside COMMAND: runs a command in the suite, where the project lies at the same path as outside.
inside() {
  mkdir -p "$suite$ROOT" "$suite/proc" "$suite/dev"
  # shellcheck disable=SC2016 # the inner shells expand these
  unshare --mount --propagation private bash -c '
    suite=$1 project=$2 command=$3
    mount --bind "$project" "$suite$project" && mount --rbind /proc "$suite/proc" && mount --rbind /dev "$suite/dev" &&
      exec chroot "$suite" /usr/bin/env PATH=/usr/bin:/bin CCACHE_DIR="$project/build/ccache" OMP_NUM_THREADS=1 \
        /bin/bash -c "cd \"\$0\" && $command" "$project"' inside "$suite" "$ROOT" "$1"
}

configure() {
  inside "cmake --preset release -B $build -DNNAPI_CONVERT_WERROR=${NNAPI_CONVERT_WERROR-OFF}"
}

# build [TARGET...]
build() {
  local targets=()
  (($# == 0)) || targets=(--target "$@")
  inside "cmake --build $build --parallel ${CMAKE_BUILD_PARALLEL_LEVEL:-2} ${targets[*]@Q} -- -k 0"
}

if [[ $what != test ]]; then
  step "configure with LibTorch $release" configure
  step "build with LibTorch $release" build "$@"
fi
if [[ $what != build ]]; then
  step "convert with LibTorch $release" inside \
    "NNAPI_CONVERT=$build/bin/nnapi-convert /usr/bin/python3 scripts/checks/written_files.py convert $build/written"
  if [[ -x build/release/bin/nnapi-convert ]]; then
    step "verify with the system's PyTorch 1.13" env NNAPI_CONVERT="$ROOT/build/release/bin/nnapi-convert" \
      LD_LIBRARY_PATH="$ROOT/build/release/lib/host" OMP_NUM_THREADS=1 "$PYTHON" scripts/checks/written_files.py verify "$build/written"
  else
    echo "build/release is not built: what LibTorch $release converted is not run by 1.13"
  fi
  step "test with LibTorch $release" inside "ctest --test-dir $build --output-on-failure --label-exclude 'zoo|package' ${*@Q}"
fi
step_times
