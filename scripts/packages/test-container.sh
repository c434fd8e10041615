#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds packaging/container/Dockerfile by podman without network, and runs the commands of docs/pipelines.md ("A container") in the
# image: scripts/packages/test-container.sh
#   NNAPI_CONVERT_BUNDLE=FILE  the archive, with its folder beside it; without it, scripts/packages/make-bundle.sh makes one of build/release
# No registry is asked: FROM scratch, and FROM a Debian 12 that debootstrap makes. Installs podman and runc, needs root. Images are
# kept in build/container alone.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
cd "$ROOT"

if ((EUID != 0)); then
  echo "test-container.sh: user $EUID found, root needed, for debootstrap and for podman's storage in build/container" >&2
  exit 2
fi
out=$ROOT/build/container
mkdir -p "$out"
step "install packages" ./scripts/install.sh podman runc debootstrap
if [[ -z ${NNAPI_CONVERT_BUNDLE:-} ]]; then
  step "make the bundle" ./scripts/packages/make-bundle.sh
  NNAPI_CONVERT_BUNDLE=$(find build/bundle -maxdepth 1 -name "nnapi-convert-*-linux-$(uname -m).tar.xz")
fi
bundle=$(realpath "$NNAPI_CONVERT_BUNDLE")
program=${bundle%.tar.xz}/bin/nnapi-convert
page=docs/pipelines.md

# runc, as Debian 12's crun refuses a system with both versions of cgroups; and limits that take no right to raise them.
export CONTAINERS_CONF=$out/containers.conf CONTAINERS_STORAGE_CONF=$out/storage.conf
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\n' >"$CONTAINERS_CONF"
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' "$out/storage" "$out/run" >"$CONTAINERS_STORAGE_CONF"
trap 'podman image rm --all --force >/dev/null' EXIT

# line TEXT: the page's line that begins with this.
line() {
  local found
  found=$(sed -n "s/^    \($1 .*\)/\1/p" "$page")
  if [[ -z $found || $found == *$'\n'* ]]; then
    echo "test-container.sh: \"${found:-nothing}\" found in $page, one line that begins with \"$1\" needed" >&2
    return 1
  fi
  printf '%s\n' "$found"
}

check_page() {
  # shellcheck disable=SC2016 # the page's fences
  diff <(sed -n '/^```dockerfile$/,/^```$/{/^```/d;p}' "$page") <(grep -v '^#' packaging/container/Dockerfile) >&2 || {
    echo "test-container.sh: $page doesn't show packaging/container/Dockerfile" >&2
    return 1
  }
}

# The page's line, with the bundle's folder in place of its last word, and further words.
build() {
  local command words
  command=$(line "podman build")
  read -ra words <<<"$command"
  "${words[@]:0:${#words[@]}-1}" "$@" "$(dirname "$bundle")"
}

# expect CODE TEXT COMMAND...: a command that ends with this code, and prints this.
expect() {
  local code=$1 text=$2 printed found=0
  shift 2
  printed=$("$@" 2>&1) || found=$?
  if ((found != code)) || [[ $printed != *"$text"* ]]; then
    printf '%s\n' "$printed" | tail -n 40 >&2
    echo "test-container.sh: exit code $found; $code is needed, and \"$text\" in the output of: $*" >&2
    return 1
  fi
}

run_image() {
  local work=$out/work command name
  command=$(line "podman run")
  rm -rf "$work"
  mkdir -p "$work"/{models,alone,own}
  cp testdata/models/{bundled,depthwise,quant,refused}.pt "$work/models/"
  cd "$work"
  expect 1 "4 models: 3 converted, 1 refused" bash -c "$command"
  for name in bundled depthwise quant; do
    "$program" "models/$name.pt" --nhwc -o "alone/$name.pt" --quiet
    cmp "alone/$name.pt" "converted/$name.pt"
  done
  expect 0 "passed (" podman run --rm --network none --volume "$work:/work" nnapi-convert verify models/quant.pt converted/quant.pt
  expect 0 "Asks the NNAPI devices" podman run --rm --entrypoint nnapi-probe nnapi-convert --help
  # As another user, with nothing to write to but the folder.
  chown 1234:1234 own
  expect 0 "passed (" podman run --rm --network none --read-only --user 1234:1234 --volume "$work:/work" nnapi-convert \
    models/bundled.pt --nhwc --verify -o own/bundled.pt
  cmp alone/bundled.pt own/bundled.pt
  cd "$ROOT"
}

make_base() {
  local root=build/bundle/root-bookworm
  if [[ ! -e $root ]]; then
    mkdir -p build/bundle
    rm -rf "$root.part"
    debootstrap --variant=minbase bookworm "$root.part" >"$out/debootstrap.log" || {
      tail -n 3 "$out/debootstrap.log" >&2
      return 3
    }
    mv "$root.part" "$root"
  fi
  tar --create --directory "$root" --exclude=./opt --exclude=./proc --exclude=./dev . | podman import --quiet - localhost/bookworm
}

run_base() {
  expect 0 "nnapi-convert " podman run --rm --network none --entrypoint sh nnapi-convert-debian -c "nnapi-convert --version && ls /etc/debian_version"
}

step "the page shows the file" check_page
step "build from scratch" build
step "run the image" run_image
step "make a base of Debian" make_base
step "build from Debian" build --build-arg BASE=localhost/bookworm --tag nnapi-convert-debian
step "run the image with a shell" run_base
step_times
