#!/usr/bin/env bash
# Makes a wheel with LLVM and all that is not glibc inside, from the libraries of a build folder, and
# tries it in a fresh environment.
#   scripts/make_wheel.sh [build/release [python3.12 ...]]
set -euo pipefail
cd "$(dirname "$0")/.."

built=$(realpath "${1:-build/release}")
shift || true
pythons=("$@")
[ ${#pythons[@]} -gt 0 ] || pythons=(python3)

for python in "${pythons[@]}"; do
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  "$python" -m venv "$work/build"
  "$work/build/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/wheel" \
    -C cmake.define.HEDDLE_BUILT="$built" -C cmake.define.HEDDLE_LLVM_STATIC=ON \
    -C cmake.define.HEDDLE_PYTHON_BUNDLE=ON -C build-dir="$work/cmake"
  wheel=$(ls "$work"/wheel/heddle-*.whl)
  "$python" scripts/check_wheel.py "$wheel"
  mkdir -p build/wheels
  cp "$wheel" build/wheels/
  echo "build/wheels/$(basename "$wheel")  $(du -h "$wheel" | cut -f1)"
  rm -rf "$work"
done
