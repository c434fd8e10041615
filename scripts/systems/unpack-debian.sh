#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpacks the packages of another release of Debian that building and testing need, into a folder of their own:
# scripts/systems/unpack-debian.sh SUITE FOLDER [APT_OPTION...], for example trixie build/trixie. The system's own packages stay
# as they are. scripts/systems/test-libtorch.sh builds and tests there. Needs 3 GB. A mirror or snapshot whose Release file has
# expired needs the option -o Acquire::Check-Valid-Until=false.
set -euo pipefail
# shellcheck source=scripts/systems/own_apt.sh
source "$(dirname "${BASH_SOURCE[0]}")/own_apt.sh"

if (($# < 2)); then
  echo "unpack-debian.sh: $# arguments found, SUITE and FOLDER needed" >&2
  exit 2
fi
suite=$1
root=$(realpath -m "$2")
shift 2
if [[ -e $root ]]; then
  echo "unpack-debian.sh: $root exists" >&2
  exit 3
fi
apt_folder=$root.apt
apt_sources=("debian $suite")
packages=(
  bash dash coreutils diffutils grep sed mawk findutils util-linux
  g++ cmake ninja-build ccache
  libtorch-dev libmimalloc-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libfarmhash-dev libdeflate-dev
  libjpeg62-turbo-dev libpng-dev libssl-dev catch2
  python3 python3-torch python3-numpy python3-jsonschema
)

# Makes the links that scripts of the packages would make.
make_links() {
  local folder
  for folder in bin sbin lib lib64; do
    [[ -e $root/$folder || ! -e $root/usr/$folder ]] || ln -s "usr/$folder" "$root/$folder"
  done
  [[ -e $root/usr/bin/awk ]] || ln -s mawk "$root/usr/bin/awk"
  [[ -e $root/usr/bin/sh ]] || ln -s dash "$root/usr/bin/sh"
  link_blas "$root/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)"
}

own_apt "$@" update
own_apt "$@" install --yes --download-only "${packages[@]}" | { grep -E '^(Need|Fetched|E:)' || true; }
mkdir -p "$root"/{dev,proc,sys,tmp,usr/{bin,sbin,lib,lib64}}
ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
unpack_archives "$root"
rm -rf "$apt_folder"
make_links
du -sh "$root"
