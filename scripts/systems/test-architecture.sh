#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds for another architecture and runs the tests there: scripts/systems/test-architecture.sh ARCHITECTURE [core].
#   ARCHITECTURE   arm64 or armhf, under qemu-user, or i386, on this machine's processor
#   core           only the parts without LibTorch: the shim's core, its size and pages, and its tests on fakes of NNAPI
#   JOBS           how many compilers and tests run at a time; 2 if not set
# Without `core`, for arm64 also nnapi-convert, the shim with its binding and the host's NNAPI on Debian's LibTorch: the
# operators' cases, the shim on the host's NNAPI, and conversions whose results run through the shim. For armhf and i386,
# which have 32 bits, `core` is all.
# Debian's packages of the architecture are unpacked into build/ARCHITECTURE-root; the system's own packages stay of one
# architecture.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
# shellcheck source=scripts/systems/own_apt.sh
source "$ROOT/scripts/systems/own_apt.sh"
cd "$ROOT"

usage() {
  echo "test-architecture.sh: '$*' found, needed: arm64, armhf or i386, and core or nothing" >&2
  exit 2
}

architecture=${1-}
build=build/$architecture
sysroot=$ROOT/$build-root
case $architecture in
  arm64)
    triple=aarch64-linux-gnu
    emulator=(qemu-aarch64 -L "$sysroot")
    core_size_limit=$((390 * 1024))
    ;;
  armhf)
    triple=arm-linux-gnueabihf
    emulator=(qemu-arm -L "$sysroot")
    core_size_limit=$((448 * 1024))
    ;;
  i386)
    triple=i386-linux-gnu
    emulator=("$sysroot/lib/ld-linux.so.2" --library-path "$sysroot/lib/$triple")
    core_size_limit=$((448 * 1024))
    ;;
  *) usage "$@" ;;
esac
jobs=${JOBS-2}
page_size=$((16 * 1024))
apt_folder=$ROOT/$build-apt
apt_sources=("debian bookworm" "debian bookworm-updates" "debian-security bookworm-security")
core_packages=(libc6-dev libstdc++-12-dev libfmt-dev nlohmann-json3-dev libdeflate-dev libjpeg62-turbo-dev libpng-dev catch2)
torch_packages=(libtorch-dev libmimalloc-dev libcli11-dev libspdlog-dev libssl-dev libfarmhash-dev)
packages=("${core_packages[@]}")
case $architecture,${2-} in
  arm64,) packages+=("${torch_packages[@]}") ;;
  *,core | armhf, | i386,) ;;
  *) usage "$@" ;;
esac

own_apt_of_architecture() {
  own_apt -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" "$@"
}

# Does the work of the packages' own scripts: makes links within the root, and the alternatives of BLAS and LAPACK.
mend_links() {
  local link target
  while IFS= read -r -d '' link; do
    target=$(readlink "$link")
    [[ ! -e $sysroot$target ]] || ln -sfnr "$sysroot$target" "$link"
  done < <(find "$sysroot" -type l -lname '/*' -not -lname "$sysroot/*" -print0)
  link_blas "$sysroot/usr/lib/$triple"
}

# Unpacks the packages and all their dependencies, unless the root has them already.
make_root() {
  local wanted="${packages[*]}" stamp=$sysroot/.packages
  if [[ -f $stamp && " $(<"$stamp") " == *" $wanted "* ]]; then
    echo "$sysroot has ${wanted// /, }"
    return
  fi
  own_apt_of_architecture update
  own_apt_of_architecture autoclean
  own_apt_of_architecture install --yes --download-only "${packages[@]}" | { grep -E '^(Need|Fetched|E:)' || true; }
  rm -rf "$sysroot"
  mkdir -p "$sysroot"/usr/{bin,sbin,lib}
  ln -s usr/bin usr/sbin usr/lib "$sysroot"
  unpack_archives "$sysroot"
  mend_links
  echo "$wanted" >"$stamp"
  du -sh "$apt_folder/archives" "$sysroot"
}

# check_pages FILE: checks that Android 15 can load the file on devices with pages of 16 KiB.
check_pages() {
  local alignment alignments
  alignments=$(llvm-readelf --program-headers --wide "$1" | awk '$1 == "LOAD" { print $NF }')
  if [[ -z $alignments ]]; then
    echo "test-architecture.sh: $1: no LOAD segment found" >&2
    return 1
  fi
  for alignment in $alignments; do
    if ((alignment % page_size != 0)); then
      echo "test-architecture.sh: $1: a LOAD segment aligned to $((alignment)) found, a multiple of $page_size needed" >&2
      return 1
    fi
  done
  echo "${1##*/}: LOAD segments are aligned for pages of 16 KiB"
}

check_core_library() {
  local library=$build/lib/libnnapi_shim.so stripped=$build/libnnapi_shim.stripped.so size
  llvm-strip -o "$stripped" "$library"
  size=$(stat -c %s "$stripped")
  echo "libnnapi_shim.so for $architecture, stripped: $size bytes"
  if ((size > core_size_limit)); then
    echo "test-architecture.sh: $library: $size bytes found, at most $core_size_limit needed; make it smaller" >&2
    return 1
  fi
  check_pages "$library"
  check_pages "$build/bin/nnapi-probe"
}

test_core() {
  local test
  for test in shim_buffer_test shim_test; do
    "${emulator[@]}" "$build/bin/$test"
  done
  # The tests contain the core's objects; this loads the library itself.
  "${emulator[@]}" "$build/bin/shim_overhead" 1000
}

step "install packages" ./scripts/install.sh --tests qemu-user llvm
step "unpack Debian's packages for $architecture" make_root
step "configure" cmake --preset "$architecture"
step "build the shim's core" cmake --build --preset "$architecture" --parallel "$jobs"
step "check the core's size and pages" check_core_library
step "test the shim's core" test_core
if [[ $architecture != arm64 || ${2-} == core ]]; then
  step_times
  exit 0
fi

test_torch() {
  check_pages build/arm64-torch/lib/libnnapi_shim_torch.so
  "${emulator[@]}" build/arm64-torch/bin/shim_host_test
  printf '%s\0' testdata/ops/*/ testdata/bad | xargs -0 -P "$jobs" -n 1 "${emulator[@]}" build/arm64-torch/bin/op_cases --no-golden
}

# convert_and_compare MODEL OPTION...: converts for the shim on the emulated machine and compares the result there with
# the original. The file has to equal the file that this machine makes, but for the samples of a self-check, which
# PyTorch's kernels of each machine compute.
convert_and_compare() {
  local model=testdata/models/$1 folder=build/arm64-torch/conversions
  shift
  set -- --no-self-check "$@"
  mkdir -p $folder/{arm64,native}
  "${emulator[@]}" build/arm64-torch/bin/nnapi-convert "$model" --nhwc --runtime shim "$@" --verify \
    -o $folder/arm64/out.pt
  build/release/bin/nnapi-convert "$model" --nhwc --runtime shim "$@" -o $folder/native/out.pt
  cmp $folder/{arm64,native}/out.pt
}

test_conversions() {
  convert_and_compare residual.pt --input 1,3,16,16 --fallback cpu
  convert_and_compare residual.pt --input '?,3,?,?' --fallback cpu-plain
  convert_and_compare depthwise.pt --input 1,3,16,16
  convert_and_compare quant_per_channel.pt --input 1,3,16,16
}

# Both machines get the same answers from the host's NNAPI.
test_probe() {
  local folder=build/arm64-torch/probe
  local question=(--device nnapi-convert-host --answers)
  mkdir -p $folder
  "${emulator[@]}" -E LD_LIBRARY_PATH=build/arm64-torch/lib/host build/arm64-torch/bin/nnapi-probe "${question[@]}" \
    >$folder/arm64.txt
  LD_LIBRARY_PATH=build/release/lib/host build/release/bin/nnapi-probe "${question[@]}" >$folder/native.txt
  cmp $folder/{arm64,native}.txt
  wc -l $folder/arm64.txt
}

build_with_torch() {
  cmake --preset release
  cmake --build --preset release --parallel "$jobs" --target nnapi-convert nnapi-probe neuralnetworks
  cmake --preset arm64-torch
  cmake --build --preset arm64-torch --parallel "$jobs"
}

step "build with LibTorch" build_with_torch
step "test conversions" test_conversions
step "test nnapi-probe" test_probe
step "test with LibTorch" test_torch
step_times
