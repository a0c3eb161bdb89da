#!/usr/bin/env bash
# Runs every benchmark program of a build folder.
#   scripts/bench.sh build/release
set -euo pipefail
shopt -s nullglob
programs=("$1"/bench/bench_*)
found=0
for program in "${programs[@]}"; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  found=1
  "$program"
done
[ "$found" -eq 1 ] || echo "bench: there are no benchmarks in $1 (is Google Benchmark installed?)"
