#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian 12 packages that building and testing need, and the packages given as arguments. Does nothing if
# all are installed.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git ca-certificates xz-utils
  libtorch-dev libmimalloc-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libfarmhash-dev libdeflate-dev
  libjpeg62-turbo-dev libpng-dev catch2
  default-jdk-headless junit4 proguard-cli
  libssl-dev dpkg-dev help2man lintian fish zsh parallel
  clang clang-format clang-tidy libclang-rt-dev lld
  python3-torch python3-torchvision python3-numpy python3-jsonschema
  "$@"
)

# Debian's Node, for LiteRT (scripts/install-litert.sh), unless there is another.
command -v node >/dev/null && command -v npm >/dev/null || packages+=(nodejs npm)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q </dev/null
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
