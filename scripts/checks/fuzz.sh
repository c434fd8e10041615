#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzes under the address and undefined-behaviour sanitizers: scripts/checks/fuzz.sh [SECONDS [TARGET...]]. The default is 60
# seconds and all targets, which run at the same time. Targets:
#   model   the host's NNAPI. Starts from Android's conformance cases if NNAPI_VECTORS names them
#   buffer  the shim's reading of model buffers, archives, driver rules and pictures
#   program  the shim's reading and running of programs, and their operators
#   exported  the reading of exported programs (.pt2): archives, JSON and pickles
# Writes build/fuzz/TARGET.log. Goes on from the corpus of earlier runs in build/fuzz/corpus*. Keeps an input that fails
# in build/fuzz/findings: build/fuzz/bin/fuzz_TARGET FILE runs it again.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
cd "$ROOT"
seconds=${1:-60}
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(model buffer program exported)
folder=build/fuzz

declare -A parts=([model]="fuzz_model fuzz_seeds" [buffer]="fuzz_buffer fuzz_buffer_seeds"
  [program]="fuzz_program fuzz_program_seeds" [exported]="fuzz_exported fuzz_exported_seeds")
needed=()
for target in "${targets[@]}"; do
  [[ -n ${parts[$target]:-} ]] || {
    echo "fuzz.sh: target $target found, model, buffer, program or exported needed" >&2
    exit 2
  }
  # shellcheck disable=SC2206 # several words
  needed+=(${parts[$target]})
done

# fuzz TARGET CORPUS SEEDS OPTION...
fuzz() {
  local target=$1 corpus=$folder/$2 seeds=$folder/$3
  shift 3
  mkdir -p "$corpus" $folder/findings
  "$folder/bin/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=3000 -close_fd_mask=1 -print_final_stats=1 \
    -artifact_prefix=$folder/findings/ "$@" "$corpus" "$seeds"
}

fuzz_target() {
  case $1 in
    model)
      $folder/bin/fuzz_seeds $folder/seeds
      fuzz model corpus seeds -max_len=4096 -timeout=60
      ;;
    buffer)
      $folder/bin/fuzz_buffer_seeds $folder/buffer_seeds
      fuzz buffer corpus_buffer buffer_seeds -max_len=8192 -timeout=60 -malloc_limit_mb=64
      ;;
    program)
      $folder/bin/fuzz_program_seeds $folder/program_seeds
      fuzz program corpus_program program_seeds -max_len=4096 -timeout=60 -malloc_limit_mb=512
      ;;
    exported)
      $folder/bin/fuzz_exported_seeds $folder/exported_seeds testdata/exported/*/*.pt2
      fuzz exported corpus_exported exported_seeds -max_len=40000 -timeout=60 -malloc_limit_mb=512
      ;;
  esac
}

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel 2 --target "${needed[@]}"
declare -A running
for target in "${targets[@]}"; do
  fuzz_target "$target" >"$folder/$target.log" 2>&1 &
  running[$target]=$!
done
failed=0
for target in "${targets[@]}"; do
  if wait "${running[$target]}"; then
    printf '%s: ' "$target"
    grep 'stat::number_of_executed_units' "$folder/$target.log"
  else
    failed=1
    tail -n 60 "$folder/$target.log"
    echo "fuzz.sh: target $target failed; all of its output is in $folder/$target.log" >&2
  fi
done
exit $failed
