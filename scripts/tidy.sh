#!/usr/bin/env bash
# clang-tidy over src/ and tools/, as many at a time as there are cores; fails on any finding.
#   scripts/tidy.sh build/release
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1

# clang cannot read g++'s precompiled headers, so it gets the compile commands without them.
mkdir -p "$build/tidy"
sed -E 's/ -fpch-preprocess| -Winvalid-pch| -include [^ ]*cmake_pch\.hxx//g' \
  "$build/compile_commands.json" > "$build/tidy/compile_commands.json"

git ls-files --cached --others --exclude-standard -- 'src/*.cpp' 'tools/*.cpp' |
  xargs --no-run-if-empty -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p "$build/tidy"
