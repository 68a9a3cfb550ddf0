#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one fuzz target for a while, from seeds that it makes.  The corpus stays beside the target, so that the
# next run goes on; what breaks it is left there as TARGET.crash-*, and is an error.
#
#   [FUZZ_SEED=N] scripts/run-fuzzer.sh TARGET SECONDS      N fixed: the same run again
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?} seconds=${2:?}
corpus=$target.corpus
mkdir -p "$corpus"
find tests/data -name '*.xplane.pb' -size -16k -exec cp {} "$corpus/" \;
python3 tests/fuzz/make_seeds.py "$corpus"
# Targets that build seeds of their own put them there, too.
export TM_FUZZ_SEEDS=$corpus
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
exec "$target" -max_total_time="$seconds" -max_len=16384 -entropic=0 -timeout=20 -rss_limit_mb=2048 \
    -seed="${FUZZ_SEED:-0}" -print_final_stats=1 -artifact_prefix="$target." "$corpus"
