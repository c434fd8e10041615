#!/usr/bin/env bash
# Fuzzes the host's NNAPI under the address and undefined-behaviour sanitizers: scripts/fuzz.sh [SECONDS], 60 without.
# Starts from Android's conformance cases where NNAPI_VECTORS names them, and from what earlier runs found in
# build/fuzz/corpus. An input that fails is kept in build/fuzz/findings: build/fuzz/bin/fuzz_model FILE runs it again.
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"
seconds=${1:-60}
folder=build/fuzz

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --parallel 2
mkdir -p $folder/corpus $folder/findings
$folder/bin/fuzz_seeds $folder/seeds
$folder/bin/fuzz_model -max_total_time="$seconds" -max_len=4096 -timeout=60 -rss_limit_mb=3000 -close_fd_mask=1 \
  -print_final_stats=1 -artifact_prefix=$folder/findings/ $folder/corpus $folder/seeds
