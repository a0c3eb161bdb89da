#!/usr/bin/env bash
# Runs every fuzzer of a build folder for some seconds, one per core. What it learns stays in the build
# folder. Where the conformance set is at hand, its small programs are inputs too. With a seed and a most
# number of inputs it tries the same ones every time, and no others on a faster machine.
#   scripts/fuzz.sh build/fuzz 20 [SEED RUNS]
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/.."
export build=$1 seconds=$2 seed=${3:-0} runs=${4:--1}
conformance=../shared/conformance
small=$build/corpus/conformance
if [ -d "$conformance" ]; then
  rm -rf "$small" && mkdir -p "$small"
  # Some of them only where a few seconds are to go to new inputs.
  if [ "$seed" != 0 ]; then every=10; else every=1; fi
  find -L "$(realpath "$conformance")" -name '*.mlir' -size -8192c | LC_ALL=C sort |
    awk "NR % $every == 0" | xargs -r -d '\n' ln -sf --backup=numbered -t "$small"
fi
export small

# What it says is shown at its end, so that fuzzers do not talk at once: all of it after a finding.
fuzz() {
  local name=${1##*/} dictionary inputs learned log
  learned=$build/corpus/$name log=$build/corpus/$name.log
  if [ "$seed" != 0 ]; then learned=$learned.$seed && rm -rf "$learned"; fi
  mkdir -p "$learned"
  dictionary=tests/fuzz/${name#fuzz_}.dict
  inputs=("$learned" "tests/fuzz/corpus_${name#fuzz_}")
  if [ "$name" = fuzz_stablehlo ] && [ -d "$small" ]; then inputs+=("$small"); fi
  if [ -f "$dictionary" ]; then inputs=(-dict="$dictionary" "${inputs[@]}"); fi
  if "$1" -max_total_time="$seconds" -seed="$seed" -runs="$runs" -timeout=60 \
       -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/" "${inputs[@]}" >"$log" 2>&1; then
    echo "fuzz: $name for $seconds s:" \
      "$(sed -n 's/^stat::number_of_executed_units: */inputs /p' "$log"), no finding"
  else
    cat "$log"
    echo "fuzz: $name: a finding, see above; the input lies in $build/"
    return 1
  fi
}
export -f fuzz

programs=()
for program in "$build"/tests/fuzz/fuzz_*; do
  if [ -x "$program" ] && [ -f "$program" ]; then programs+=("$program"); fi
done
if [ "${#programs[@]}" -eq 0 ]; then
  echo "fuzz: there are no fuzzers in $build yet"
  exit 0
fi
# The last of them, whose inputs take longest, begins first.
printf '%s\n' "${programs[@]}" | tac | xargs -P "$(nproc)" -I '{}' bash -c "fuzz '{}'"
