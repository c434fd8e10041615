#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the shim with Android's NDK, checks what came of it, and runs it on Android's userland: scripts/systems/test-android.sh
#   ANDROID_NDK        the NDK's folder
#   ANDROID_ROOTFS     a root folder of Android 10 or later, with /system and, where links lead there, /apex; several are
#                      parted by ":". Without it nothing is run; with it the script fails where it finds nothing to run
#   ANDROID_ABIS       the ABIs; "arm64-v8a armeabi-v7a x86_64 x86" if not set
#   ANDROID_PLATFORMS  the API levels; "27 29" if not set
#   ANDROID_STLS       the C++ libraries; "c++_shared c++_static" if not set
#   JOBS               how many compilers run at a time; 2 if not set
# Build nnapi-convert before: it emits the shim. Programs run in a mount namespace of their own with the root folder as
# their root, on this machine's processor where it can, else under qemu-user; that needs root, and changes nothing in the
# folder.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
cd "$ROOT"

read -ra abis <<<"${ANDROID_ABIS-arm64-v8a armeabi-v7a x86_64 x86}"
read -ra platforms <<<"${ANDROID_PLATFORMS-27 29}"
read -ra stls <<<"${ANDROID_STLS-c++_shared c++_static}"
IFS=: read -ra roots <<<"${ANDROID_ROOTFS-}"
jobs=${JOBS-2}
build=build/android
page_size=$((16 * 1024))
core_size_limit=$((448 * 1024))
guest=/data/local/tmp # where a root folder has the tests
runs=()               # what ran where and what did not, for the end
has_run=

complain() {
  echo "test-android.sh: $*" >&2
  return 1
}

toolchain=${ANDROID_NDK:?"set it to the folder of Android's NDK"}/build/cmake/android.toolchain.cmake
[[ -f $toolchain ]] || complain "$toolchain is missing; set ANDROID_NDK to an NDK's folder"
sysroot=$(echo "$ANDROID_NDK"/toolchains/llvm/prebuilt/*/sysroot)

# triple_of ABI: the name of the ABI's folders in the NDK's sysroot.
triple_of() {
  case $1 in
    arm64-v8a) echo aarch64-linux-android ;;
    armeabi-v7a) echo arm-linux-androideabi ;;
    x86_64) echo x86_64-linux-android ;;
    x86) echo i686-linux-android ;;
    *) complain "$1 is no ABI; arm64-v8a, armeabi-v7a, x86_64 or x86 needed" ;;
  esac
}

# configure SOURCES FOLDER ABI PLATFORM STL [OPTION...]: with CXXFLAGS and LDFLAGS of the environment, which CMake puts
# beside the NDK's own flags. As an option, CMAKE_CXX_FLAGS would take their place.
configure() {
  local sources=$1 folder=$2 abi=$3 platform=$4 stl=$5
  shift 5
  rm -f "$folder/CMakeCache.txt" # the environment is read where there is no cache
  cmake -S "$sources" -B "$folder" -G Ninja --log-level=WARNING -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DANDROID_ABI="$abi" \
    -DANDROID_PLATFORM="android-$platform" -DANDROID_STL="$stl" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" "$@" >/dev/null
}

# build_in FOLDER [TARGET...]
build_in() {
  local folder=$1
  shift
  cmake --build "$folder" --parallel "$jobs" ${1:+--target "$@"} >"$folder/log" || {
    cat "$folder/log"
    return 1
  }
  tail -n 1 "$folder/log"
}

# check_file FILE: checks the alignment of its segments, what it needs, and its size; it must be as an app carries it.
check_file() {
  local file=$1 alignment alignments library stripped=$build/stripped
  alignments=$(llvm-readelf --program-headers --wide "$file" | awk '$1 == "LOAD" { print $NF }')
  [[ -n $alignments ]] || complain "$file: no LOAD segment found"
  for alignment in $alignments; do
    ((alignment % page_size == 0)) ||
      complain "$file: a LOAD segment aligned to $((alignment)) found, a multiple of $page_size needed"
  done
  for library in $(llvm-readelf --dynamic-table "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    [[ " libc.so libm.so libdl.so liblog.so libc++_shared.so " == *" $library "* ]] ||
      complain "$file needs $library; only libc, libm, libdl, liblog and libc++_shared are on every phone or in an app"
  done
  llvm-strip -o "$stripped" "$file"
  printf '  %-24s %8d bytes, stripped\n' "${file##*/}" "$(stat -c %s "$stripped")"
  [[ ${file##*/} != libnnapi_shim.so ]] || (($(stat -c %s "$stripped") <= core_size_limit)) ||
    complain "$file: more than $core_size_limit bytes; make it smaller"
}

# Builds all that the emitted shim has, for one ABI, API level and C++ library.
build_shim() {
  local abi=$1 platform=$2 stl=$3 folder=$build/$1-$2-$3 name
  CXXFLAGS='-Wall -Wextra -Werror' LDFLAGS='-Wl,--no-undefined -Wl,--fatal-warnings' \
    configure "$build/shim" "$folder" "$abi" "$platform" "$stl" -DNNAPI_SHIM_TOOLS=ON -DCMAKE_UNITY_BUILD=ON
  build_in "$folder"
  for name in libnnapi_shim.so libnnapi_shim_jni.so nnapi-probe; do check_file "$folder/$name"; done
}

# Builds the shim's own tests for an ABI. The tests are not optimised, to save time; the shim's code is.
build_tests() {
  local abi=$1 folder=$build/tests-$1
  mkdir -p "$build/catch2"
  cp -r /usr/include/catch2 "$build/catch2"
  configure tests/android "$folder" "$abi" "${platforms[0]}" "${stls[0]}" -DNNAPI_CONVERT_WERROR=ON \
    -DNNAPI_CATCH2="$ROOT/$build/catch2" -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG
  build_in "$folder" shim_test shim_buffer_test nnapi-probe no_services spoilt_nnapi
}

# emulator_of ABI: the program that runs the ABI here; nothing where this machine's processor does.
emulator_of() {
  case $1 in
    arm64-v8a) [[ $(uname -m) == aarch64 ]] || command -v qemu-aarch64-static ;;
    armeabi-v7a) command -v qemu-arm-static ;;
  esac
}

# runs_on ABI ROOT: whether the root folder has libraries of the ABI.
runs_on() {
  local folder=lib machine library
  [[ $1 != *64* ]] || folder=lib64
  library=$2/system/$folder/liblog.so
  [[ -f $library ]] || return 1
  machine=$(llvm-readelf --file-header "$library" | sed -n 's/.*Machine: *//p')
  case $1 in
    arm64-v8a) [[ $machine == AArch64 ]] ;;
    armeabi-v7a) [[ $machine == ARM ]] ;;
    x86_64) [[ $machine == *X86-64 ]] ;;
    x86) [[ $machine == *80386 ]] ;;
  esac
}

# in_root ROOT ABI COMMAND...: runs it with the root folder as root and the ABI's tests at $guest.
in_root() {
  local root=$1 abi=$2
  shift 2
  # shellcheck disable=SC2016 # the inner shell's variables
  unshare --mount --propagation private bash -euc '
    root=$1 tests=$2 guest=$3 emulator=$4
    shift 4
    mount --bind "$root" "$root" # a test mounts: the root has to be a mount, too
    mount -t tmpfs none "$root/data"
    mkdir -p "$root$guest/tmp"
    cp -r "$tests/." "$root$guest"
    mount --rbind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
    settings=("TMPDIR=$guest/tmp" "LD_LIBRARY_PATH=$guest" "FAKE_NNAPI_FOLDER=$guest/fakes"
      "NNAPI_SOURCE_FOLDER=$guest/source" ${PRELOAD:+"LD_PRELOAD=$guest/$PRELOAD"}
      ${SPOILT_NNAPI:+"SPOILT_NNAPI=$SPOILT_NNAPI"})
    if [[ -z $emulator ]]; then exec chroot "$root" /system/bin/env -i "${settings[@]}" "$@"; fi
    cp "$emulator" "$root$guest/emulator"
    for setting in "${settings[@]}"; do set -- -E "$setting" "$@"; done
    exec env -i "$(command -v chroot)" "$root" "$guest/emulator" "$@"' in_root "$(realpath "$root")" "$build/guest-$abi" "$guest" "$(emulator_of "$abi")" "$@"
}

# Collects what the tests of an ABI need on the other side.
make_guest() {
  local abi=$1 folder=$build/guest-$1 built=$build/tests-$1
  rm -rf "$folder"
  mkdir -p "$folder"/{fakes,source/testdata,cache}
  cp "$built"/bin/* "$built"/lib/lib{no_services,spoilt_nnapi}.so "$folder"
  cp "$built"/lib/fake_nnapi/* "$folder/fakes"
  cp -r testdata/buffers "$folder/source/testdata"
  mkdir -p "$folder/source/schemas"
  cp schemas/nnapi_buffer.md "$folder/source/schemas"
  [[ ${stls[0]} != c++_shared ]] || cp "$sysroot/usr/lib/$(triple_of "$abi")/libc++_shared.so" "$folder"
  build/release/bin/nnapi-convert testdata/models/residual.pt --nhwc --input 1,3,16,16 --runtime shim --feature-level 3 \
    -o "$folder/residual.pt"
}

# examine ROOT ABI FAULT OPERATION FINDING: runs the doctor on the root folder's own NNAPI behind a device with FAULT (see
# tests/doctor/spoilt_nnapi.cpp). In its table each OPERATION must have FINDING, and all others must be right.
examine() {
  local root=$1 abi=$2 fault=$3 operation=$4 finding=$5 table=$build/doctor
  PRELOAD=libno_services.so SPOILT_NNAPI=$fault in_root "$root" "$abi" "$guest/nnapi-probe" --doctor "$guest/residual.pt" \
    --all --limit 20 --library "$guest/libspoilt_nnapi.so" --device alpha >"$table" || {
    cat "$table"
    return 1
  }
  awk -v operation="$operation" -v finding="$finding" '
    $1 ~ /^[0-9]+$/ && $2 ~ /^[A-Z0-9_]+$/ {
      ++rows
      is_named = $2 == operation
      named += is_named
      others += !is_named
      if ($3 != (is_named ? finding : "right")) ++unexpected
    }
    END { exit rows == 0 || others == 0 || unexpected > 0 || (operation != "" && named == 0) }' "$table" || {
    cat "$table"
    complain "the doctor: $operation $finding and all others right needed, for the fault \"$fault\""
  }
  echo "the doctor on Android's own NNAPI: ${operation:+$operation $finding, the others }right"
}

# Runs the tests, and a converted file on the root folder's own NNAPI.
run_tests() {
  local root=$1 abi=$2 system_library
  [[ -d $root/data && -d $root/proc && -d $root/dev ]] || complain "$root: the folders data, proc and dev are needed"
  make_guest "$abi"
  in_root "$root" "$abi" "$guest/shim_buffer_test"
  in_root "$root" "$abi" "$guest/shim_test"
  system_library=/system/lib/libneuralnetworks.so
  [[ $abi != *64* ]] || system_library=/system/lib64/libneuralnetworks.so
  has_run=yes
  if [[ ! -e $root$system_library ]]; then
    runs+=("$abi on $root: the shim's tests; no file, as $system_library is missing there")
    return
  fi
  PRELOAD=libno_services.so in_root "$root" "$abi" "$guest/nnapi-probe" --list
  PRELOAD=libno_services.so in_root "$root" "$abi" "$guest/nnapi-probe" --trial "$guest/residual.pt" --cache "$guest/cache"
  echo "residual.pt: the samples are right on Android's own NNAPI"
  examine "$root" "$abi" "" "" ""
  examine "$root" "$abi" "scale 0 - -1 1.5 0 0" ADD wrong
  examine "$root" "$abi" "crash 0 - -1 1 0 0" ADD crash
  runs+=("$abi on $root: the shim's tests, and a converted file and its doctor on $system_library")
}

report_runs() {
  printf '\n== what ran, and what did not\n'
  ((${#roots[@]} != 0)) || runs+=("no program, as ANDROID_ROOTFS is not set")
  printf '  %s\n' "${runs[@]}"
  ((${#roots[@]} == 0)) || [[ -n $has_run ]] || complain "ANDROID_ROOTFS has libraries of none of ${abis[*]}"
}

emit() {
  build/release/bin/nnapi-convert shim --emit "$build/shim" --force
}

step "install packages" ./scripts/install.sh --tests llvm qemu-user-static
mkdir -p "$build"
step "emit the shim" emit
for abi in "${abis[@]}"; do
  for stl in "${stls[@]}"; do
    library=$sysroot/usr/lib/$(triple_of "$abi")/lib$stl
    if [[ ! -e $library.so && ! -e $library.a ]]; then
      runs+=("$abi with $stl: not built, as $ANDROID_NDK has no lib$stl for it")
      continue
    fi
    for platform in "${platforms[@]}"; do
      step "build for $abi, API level $platform, $stl" build_shim "$abi" "$platform" "$stl"
    done
  done
  for root in "${roots[@]}"; do
    if ! runs_on "$abi" "$root"; then
      runs+=("$abi on $root: nothing, as no library of this ABI is there")
      continue
    fi
    step "build the tests for $abi" build_tests "$abi"
    step "test $abi on $root" run_tests "$root" "$abi"
  done
done
report_runs
step_times
