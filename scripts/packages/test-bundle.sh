#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs README's 30 seconds, and what else has to find files, by the bundle and the wheel in root folders without the
# packages that an installation needs: scripts/packages/test-bundle.sh [SUITE...]
#   SUITE  a release of Debian (bullseye, bookworm, trixie, sid), of which debootstrap puts the smallest system into
#          build/bundle/root-SUITE, and one with python3-venv for the wheel beside it; or "none", an empty folder,
#          without a C library. Not given: bookworm none. The folders are kept for the next run
#   NNAPI_CONVERT_BUNDLE=FILE  the archive; without it, scripts/packages/make-bundle.sh makes one of build/release. One for aarch64
#                              is run by qemu-user, in root folders for arm64: build/bundle/root-arm64-SUITE
# The wheel is made of the folder beside the archive. The model comes from outside, by the system's PyTorch. Needs root.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
# shellcheck source=scripts/packages/arm64_emulator.sh
source "$ROOT/scripts/packages/arm64_emulator.sh"
cd "$ROOT"

if ((EUID != 0)); then
  echo "test-bundle.sh: user $EUID found, root needed, for chroot and mount" >&2
  exit 2
fi
suites=("$@")
((${#suites[@]} > 0)) || suites=(bookworm none)
for suite in "${suites[@]}"; do
  if [[ ! $suite =~ ^[a-z]+$ ]]; then
    echo "test-bundle.sh: $suite found, a suite of Debian or \"none\" needed, such as bookworm" >&2
    exit 2
  fi
done
out=$ROOT/build/bundle
mkdir -p "$out"
command -v debootstrap >/dev/null || step "install debootstrap" ./scripts/install.sh debootstrap
if [[ -z ${NNAPI_CONVERT_BUNDLE:-} ]]; then
  step "make the bundle" ./scripts/packages/make-bundle.sh
  NNAPI_CONVERT_BUNDLE=$(find "$out" -maxdepth 1 -name "nnapi-convert-*-linux-$(uname -m).tar.xz")
fi
bundle=$(realpath "$NNAPI_CONVERT_BUNDLE")
version=$(basename "$bundle" .tar.xz)
case $version in
  *-linux-x86_64) architecture=amd64 ;;
  *-linux-aarch64) architecture=arm64 ;;
  *)
    echo "test-bundle.sh: $bundle found, needed: nnapi-convert-VERSION-linux-x86_64.tar.xz, or aarch64" >&2
    exit 2
    ;;
esac
side=224 # of the pictures
slow=()  # of each command that converts or runs
if [[ $architecture == arm64 ]]; then
  step "have qemu-user run arm64" register_arm64
  # The emulated machine is slower by a factor of 30.
  side=64
  slow=(--time-limit 3000)
fi
most_bytes=80000000
if (($(stat -c %s "$bundle") > most_bytes)); then
  echo "test-bundle.sh: $bundle has $(stat -c %s "$bundle") bytes, at most $most_bytes are allowed" >&2
  exit 1
fi

# README's command, and the model that its lines of Python make.
headline=$(sed -n 's/^\$ \(nnapi-convert model\.pt .*\)/\1/p' README.md | head -n 1)
read -ra convert <<<"${headline#nnapi-convert }"
convert=("${convert[@]/224,224/$side,$side}" "${slow[@]}")
make_model() {
  mkdir -p "$out/model"
  (cd "$out/model" && "$PYTHON" -W ignore -c "$(sed -n '/^```python$/,/^```$/{/^```$/q;p}' "$ROOT/README.md" | tail -n +2)")
}

# make_root SUITE ROOT [PACKAGE]
make_root() {
  [[ ! -e $2 ]] || return 0
  if [[ $1 == none ]]; then
    mkdir -p "$2"
    return
  fi
  rm -rf "$2.part"
  debootstrap "--arch=$architecture" --variant=minbase ${3:+"--include=$3"} "$1" "$2.part" >"$out/debootstrap-$1.log" || {
    tail -n 3 "$out/debootstrap-$1.log" >&2
    exit 3
  }
  mv "$2.part" "$2"
}

# inside [--system] COMMAND...: runs a command in the folder $root, without the variables of this shell; with /proc,
# /dev and /sys, if asked for.
inside() {
  local system=no
  if [[ $1 == --system ]]; then
    system=yes
    shift
  fi
  # shellcheck disable=SC2016 # the inner shell expands these
  unshare --mount --propagation private bash -c '
    system=$1 root=$2
    shift 2
    if [[ $system == yes ]]; then
      mkdir -p "$root"/{proc,dev,sys} && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
        mount --rbind /sys "$root/sys"
    fi
    exec env -i PATH=/usr/bin:/bin HOME=/ ${settings:-} "$(command -v chroot)" "$root" "$@"
    ' inside "$system" "$root" "$@"
}

# expect TEXT COMMAND...: runs a command that has to succeed and to print a text.
expect() {
  local text=$1 printed code=0
  shift
  printed=$("$@" 2>&1) || code=$?
  if ((code != 0)) || [[ $printed != *"$text"* ]]; then
    printf '%s\n' "$printed" | tail -n 40 >&2
    echo "test-bundle.sh: exit code $code; 0 is needed, and \"$text\" in the output of: $*" >&2
    exit 1
  fi
}

# The bundle in $root, below a folder with an odd name and behind a link.
run_bundle() {
  local folder="/opt/a folder: \$x;y" program own
  own=$folder/$version
  program=$own/bin/nnapi-convert
  rm -rf "${root:?}"/{opt,zoo,converted,shim,model.pt}
  mkdir -p "$root$folder" "$root/zoo" "$root/tmp"
  tar -xf "$bundle" -C "$root$folder"
  cp "$out/model/model.pt" "$root/model.pt"
  cp "$out/model/model.pt" "$root/zoo/net.pt"
  ln -s "$program" "$root/opt/nnapi-convert"
  expect "100 % on NNAPI" inside "$program" model.pt --input 1,3,$side,$side --nhwc -o out.pt
  expect "passed (" inside --system "$program" "${convert[@]}"
  expect "passed (" inside --system /opt/nnapi-convert "${convert[@]}"
  expect "1 converted" inside --system "$program" batch zoo -o converted --nhwc --input 1,3,$side,$side --verify "${slow[@]}"
  expect "shim/README.md" inside "$program" shim --emit shim
  expect "100 % on NNAPI" inside --system "$program" model.pt --input 1,3,$side,$side --nhwc --runtime shim "${slow[@]}" -o shim.pt
  expect "run without PyTorch" inside --system "$program" verify model.pt shim.pt --without-torch "${slow[@]}"
  export settings=LD_LIBRARY_PATH=/opt/host
  ln -s "$own/lib/nnapi-convert" "$root/opt/host"
  expect "sample 1: right" inside --system "$own/bin/nnapi-probe" --doctor shim.pt --json doctor.json
  expect "Iters per second" inside --system "$own/bin/nnapi-bench" --model=out.pt --input_dims=1,3,$side,$side \
    --input_type=float --iter=2
  unset settings
  expect "<html" inside "$program" inspect shim.pt --format html --doctor doctor.json
  if [[ -x $root/bin/sh ]]; then
    # shellcheck disable=SC2016 # the shell inside expands it
    expect "nnapi-convert " inside /bin/sh -c 'LD_PRELOAD=$(echo /usr/lib/*/libapt-pkg.so.*.0) exec "$0" --version' \
      "$program"
    expect "no LD" inside --system "$program" model.pt --input 1,3,$side,$side --nhwc --calibrate random:2 \
      --metric 'if env | grep ^LD_; then exit 1; fi; ls / >/dev/null && echo no LD >&2; echo 1; :' "${slow[@]}" -o int8.pt
  fi
}

# The wheel in $root, which has Python and no package of it.
run_wheel() {
  rm -rf "${root:?}"/{venv,*.whl}
  mkdir -p "$root/tmp"
  cp "$wheel" "$root/"
  cp "$out/model/model.pt" "$root/model.pt"
  expect "" inside --system python3 -m venv /venv
  expect "Successfully installed" inside --system /venv/bin/pip install --no-index "/$(basename "$wheel")"
  expect "passed (" inside --system /venv/bin/nnapi-convert "${convert[@]}"
  expect "nnapi-convert " inside --system /venv/bin/python -m nnapi_convert --version
  expect "passed 1" inside --system /venv/bin/python -c '
import nnapi_convert
result = nnapi_convert.convert("model.pt", None, "out.pt", input="1,3,64,64", nhwc=True, progress=False)
print("passed" if result.verify(time_limit=3000).passed else "failed", int(result.is_whole))'
}

make_wheel() {
  rm -f "$out"/nnapi_convert-*_"${version##*-}".whl
  "$PYTHON" scripts/packages/make-wheel.py "${bundle%.tar.xz}" "$out"
}

step "make README's model" make_model
step "make the wheel" make_wheel
wheel=$(find "$out" -maxdepth 1 -name "nnapi_convert-*_${version##*-}.whl")
prefix=$out/root-
[[ $architecture != arm64 ]] || prefix=$out/root-arm64-
for suite in "${suites[@]}"; do
  root=$prefix$suite
  step "make a root folder: $suite" make_root "$suite" "$root"
  step "the bundle in $suite" run_bundle
  if [[ $suite != none ]]; then
    root=$prefix$suite-python
    step "make a root folder with Python: $suite" make_root "$suite" "$root" python3-venv
    step "the wheel in $suite" run_wheel
  fi
done
step_times
