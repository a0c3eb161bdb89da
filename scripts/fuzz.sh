#!/usr/bin/env bash
# Runs every fuzzer of a build folder for some seconds. What it learns stays in the build folder.
# Where the conformance set is at hand, its small programs are inputs too.
#   scripts/fuzz.sh build/fuzz 20
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/.."
build=$1 seconds=$2
found=0
conformance=../shared/conformance
for program in "$build"/tests/fuzz/fuzz_*; do
  [ -x "$program" ] && [ -f "$program" ] || continue
  found=1
  name=$(basename "$program")
  learned=$build/corpus/$name
  mkdir -p "$learned"
  dictionary=tests/fuzz/${name#fuzz_}.dict
  [ -f "$dictionary" ] && extra=(-dict="$dictionary") || extra=()
  inputs=("$learned" "tests/fuzz/corpus_${name#fuzz_}")
  if [ "$name" = fuzz_stablehlo ] && [ -d "$conformance" ]; then
    small=$build/corpus/conformance
    rm -rf "$small" && mkdir -p "$small"
    find -L "$(realpath "$conformance")" -name '*.mlir' -size -8192c \
      -exec ln -sf --backup=numbered -t "$small" {} +
    inputs+=("$small")
  fi
  echo "fuzz: $name for $seconds s"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/" "${extra[@]}" "${inputs[@]}"
done
[ "$found" -eq 1 ] || echo "fuzz: there are no fuzzers in $build yet"
