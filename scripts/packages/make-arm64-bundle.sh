#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes nnapi-convert-VERSION-linux-aarch64.tar.xz on a machine with another processor, and the wheel of it.
# `scripts/systems/test-architecture.sh arm64` has to have built build/arm64-torch. Its installation is packed by
# scripts/packages/make-bundle.sh in a Debian 12 for arm64, which debootstrap puts into build/bundle/system-arm64, and whose programs
# qemu-user runs. Needs root. On an arm64 machine, scripts/packages/make-bundle.sh does without this one.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
# shellcheck source=scripts/packages/arm64_emulator.sh
source "$ROOT/scripts/packages/arm64_emulator.sh"
cd "$ROOT"

out=$ROOT/build/bundle
system=$out/system-arm64
installed=build/bundle/installed-arm64
if ((EUID != 0)); then
  echo "make-arm64-bundle.sh: user $EUID found, root needed, for chroot and mount" >&2
  exit 2
fi
if [[ ! -x build/arm64-torch/bin/nnapi-convert ]]; then
  echo "make-arm64-bundle.sh: no build/arm64-torch found; build it: scripts/systems/test-architecture.sh arm64" >&2
  exit 3
fi
mkdir -p "$out"

# What the bundle takes libraries and licences from, and what packs it.
packages=(libtorch1.13 libmimalloc2.0 libfmt9 libspdlog1.10 libfarmhash0 libdeflate0 libjpeg62-turbo libpng16-16 libssl3
  libcli11-dev nlohmann-json3-dev gcc libc6-dev binutils xz-utils)

install_build() {
  rm -rf "$installed"
  cmake --install build/arm64-torch --prefix "$ROOT/$installed" >"$out/install-arm64.log"
}

make_system() {
  [[ ! -e $system ]] || return 0
  rm -rf "$system.part"
  local include
  include=$(IFS=, && echo "${packages[*]}")
  debootstrap --arch=arm64 --variant=minbase "--include=$include" bookworm "$system.part" >"$out/debootstrap-arm64.log" || {
    tail -n 3 "$out/debootstrap-arm64.log" >&2
    exit 3
  }
  mv "$system.part" "$system"
}

make_bundle() {
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
  # shellcheck disable=SC2016 # the inner shell expands these
  unshare --mount --propagation private bash -c '
    system=$1 project=$2 epoch=$3
    shift 3
    mkdir -p "$system/project"
    mount --bind "$project" "$system/project" && mount -t proc proc "$system/proc" && mount --rbind /dev "$system/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ SOURCE_DATE_EPOCH="$epoch" "$(command -v chroot)" "$system" "$@"
    ' make_bundle "$system" "$ROOT" "$SOURCE_DATE_EPOCH" /project/scripts/packages/make-bundle.sh "/project/$installed"
}

step "install packages" ./scripts/install.sh debootstrap
step "have qemu-user run arm64" register_arm64
step "install build/arm64-torch" install_build
step "make a Debian 12 for arm64" make_system
step "make the bundle" make_bundle
step "make the wheel" "$PYTHON" scripts/packages/make-wheel.py "$(find "$out" -maxdepth 1 -type d -name 'nnapi-convert-*-linux-aarch64')" "$out"
step_times
