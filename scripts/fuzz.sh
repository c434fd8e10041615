#!/usr/bin/env bash
# Fuzzes under the address and undefined-behaviour sanitizers: scripts/fuzz.sh [SECONDS [TARGET...]]. The default is all
# targets, 60 seconds each. Targets:
#   model   the host's NNAPI. Starts from Android's conformance cases if NNAPI_VECTORS names them
#   buffer  the shim's reading of model buffers, archives and driver rules
#   program  the shim's reading and running of programs, and their operators
#   exported  the reading of exported programs (.pt2): archives, JSON and pickles
# Goes on from the corpus of earlier runs in build/fuzz/corpus*. Keeps an input that fails in build/fuzz/findings:
# build/fuzz/bin/fuzz_TARGET FILE runs it again.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"
seconds=${1:-60}
shift || true
targets=("$@")
[ $# -gt 0 ] || targets=(model buffer program exported)
folder=build/fuzz

# fuzz TARGET CORPUS SEEDS OPTION...
fuzz() {
  local target=$1 corpus=$folder/$2 seeds=$folder/$3
  shift 3
  mkdir -p "$corpus" $folder/findings
  "$folder/bin/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=3000 -close_fd_mask=1 -print_final_stats=1 \
    -artifact_prefix=$folder/findings/ "$@" "$corpus" "$seeds"
}

cmake --preset fuzz >/dev/null
for target in "${targets[@]}"; do
  case $target in
    model)
      cmake --build --preset fuzz --parallel 2
      $folder/bin/fuzz_seeds $folder/seeds
      fuzz model corpus seeds -max_len=4096 -timeout=60
      ;;
    buffer)
      cmake --build --preset fuzz --parallel 2 --target fuzz_buffer fuzz_buffer_seeds
      $folder/bin/fuzz_buffer_seeds $folder/buffer_seeds
      fuzz buffer corpus_buffer buffer_seeds -max_len=8192 -timeout=60 -malloc_limit_mb=64
      ;;
    program)
      cmake --build --preset fuzz --parallel 2 --target fuzz_program fuzz_program_seeds
      $folder/bin/fuzz_program_seeds $folder/program_seeds
      fuzz program corpus_program program_seeds -max_len=4096 -timeout=60 -malloc_limit_mb=512
      ;;
    exported)
      cmake --build --preset fuzz --parallel 2 --target fuzz_exported fuzz_exported_seeds
      $folder/bin/fuzz_exported_seeds $folder/exported_seeds testdata/exported/*/*.pt2
      fuzz exported corpus_exported exported_seeds -max_len=40000 -timeout=60 -malloc_limit_mb=512
      ;;
    *)
      echo "fuzz.sh: target $target found, model, buffer, program or exported needed" >&2
      exit 2
      ;;
  esac
done
