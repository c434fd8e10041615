#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs Debian's packages for this project: scripts/install.sh [--tests] [PACKAGE...]
#   --tests  also what the tests and the checks of .ci/run need: a JDK, shells, ProGuard, Node, Clang's tools
#   PACKAGE  further packages
# Without --tests: what builds the programs, and makes and converts the models of scripts/demo.sh. Does nothing if all are
# installed.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git ca-certificates xz-utils
  libtorch-dev libmimalloc-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libfarmhash-dev libdeflate-dev
  libjpeg62-turbo-dev libpng-dev libssl-dev catch2
  python3-torch python3-torchvision python3-numpy
)
tests=(
  default-jdk-headless junit4 proguard-cli
  dpkg-dev help2man lintian fish zsh parallel
  clang clang-format clang-tidy libclang-rt-dev lld
  python3-jsonschema mypy
)

if [[ ${1:-} == --tests ]]; then
  shift
  packages+=("${tests[@]}")
  # Debian's Node, for LiteRT (scripts/install-litert.sh), unless there is another.
  command -v node >/dev/null && command -v npm >/dev/null || packages+=(nodejs npm)
fi
packages+=("$@")

system=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}" || true)
if [[ $system != debian* ]] || ! command -v apt-get >/dev/null; then
  echo "install.sh: ${system:-an unknown system} found, Debian 12 needed; elsewhere take the bundle or the wheel, which need" \
    "nothing (docs/installing.md), or build with -DCMAKE_PREFIX_PATH=FOLDER for a LibTorch of your own" >&2
  exit 3
fi

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
