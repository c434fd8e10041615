# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # PYTHON is for those who source this
# Sourced by the other scripts: `step NAME COMMAND...` runs a command under a heading and remembers how long it took;
# `step_times` prints the list. A script that calls another one shares its list through STEP_LOG. Sets NNAPI_VECTORS.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PYTHON=/usr/bin/python3 # Debian's: another one on PATH would lack PyTorch
STEP_LOG_IS_OURS=${STEP_LOG:+no}
export STEP_LOG=${STEP_LOG:-$ROOT/build/steps.tsv}
mkdir -p "$ROOT/build"
[[ $STEP_LOG_IS_OURS == no ]] || : >"$STEP_LOG"

step() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  printf '%s\t%s\n' "$((SECONDS - start))" "$name" >>"$STEP_LOG"
}

step_times() {
  printf '\n== time by step\n'
  awk -F '\t' '{ printf "%5d s  %s\n", $1, $2; sum += $1 } END { printf "%5d s  in all\n", sum }' "$STEP_LOG"
}

# The default of NNAPI_VECTORS: Android's conformance cases beside the project, if they are there.
vectors=$ROOT/../shared/vectors/nnapi_vectors.tar.xz
if [[ -z ${NNAPI_VECTORS+set} && -f $vectors ]]; then
  export NNAPI_VECTORS=$vectors
fi
