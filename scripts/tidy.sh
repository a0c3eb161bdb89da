#!/usr/bin/env bash
# clang-tidy over src/ and tools/, one per core, in the batches that they are compiled in; fails on any
# finding. A batch that was clean is looked at again only when a source of it, a header or .clang-tidy
# has changed.
#   scripts/tidy.sh build/lint      all
#   scripts/tidy.sh build/lint 4    the four batches whose sources changed last
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 most=${2:-}
stamps=$build/tidy
mkdir -p "$stamps"

# What clang-tidy reads, a source or a batch of them; not tests and benchmarks.
mapfile -t units < <(sed -n 's/^ *"file": "\(.*\)".*/\1/p' "$build/compile_commands.json" |
  grep -v "^$PWD/\(tests\|bench\|$build/pch\)/" | grep -v "/site-packages/" | grep -v "/batches/\(unit\|property\|errors\|gpu\)_" | sort -u)
sources_of() {
  case $1 in
    */batches/*) sed -n "s|^#include \"\(.*\)\"|$PWD/\1|p" "$1" ;;
    *) echo "$1" ;;
  esac
}

# Those with the sources that were changed last, latest first.
if [ -n "$most" ]; then
  declare -A unit_of
  for unit in "${units[@]}"; do
    while read -r file; do unit_of[$file]=$unit; done < <(sources_of "$unit")
  done
  mapfile -t units < <({ git diff --name-only HEAD; git log -n 100 --name-only --pretty=; } |
    while read -r file; do
      [ -z "$file" ] || echo "${unit_of[$PWD/$file]:-}"
    done | awk -v most="$most" 'NF && !seen[$0]++ && count++ < most')
fi

mapfile -t headers < <(find include src tools -name '*.h')
due=()
for unit in "${units[@]}"; do
  stamp=${unit#"$PWD"/}
  stamp=$stamps/${stamp//\//_}.clean
  mapfile -t sources < <(sources_of "$unit")
  if [ ! -f "$stamp" ] ||
     [ -n "$(find "${sources[@]}" .clang-tidy "${headers[@]}" -newer "$stamp" -print -quit)" ]; then
    due+=("$stamp" "$unit")
  fi
done
[ "${#due[@]}" -gt 0 ] || exit 0

check() {
  touch "$2.new"  # of the time before the check: a change during it counts
  # Batches include sources, and have options of g++; clang finds deprecated things inside
  # std::stable_sort of libstdc++ 12.
  if clang-tidy-19 --quiet --checks=-bugprone-suspicious-include \
       --extra-arg=-Wno-deprecated-declarations --extra-arg=-Wno-unused-command-line-argument \
       --extra-arg=-Wno-unknown-warning-option -p "$1" "$3" 2>/dev/null; then
    mv "$2.new" "$2"
  else
    rm "$2.new"
    return 1
  fi
}
export -f check
printf '%s\n' "${due[@]}" | xargs -P "$(nproc)" -n 2 bash -c 'check "$0" "$@"' "$build"
