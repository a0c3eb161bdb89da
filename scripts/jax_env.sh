#!/usr/bin/env bash
# Makes build/jax-venv, an environment with the JAX that its own tests were written for, and the Python
# package for that Python in build/jax-package, from the libraries of build/release, which have to be there.
#   scripts/jax_env.sh [JOBS]
#   scripts/jax_env.sh packages      only the environment, which needs no build
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-$(nproc)}

# A Python 3.12 that really starts; pyenv's stand-ins for versions that are not chosen do not.
python_312() {
  for python in python3.12 "$HOME"/.pyenv/versions/3.12*/bin/python; do
    if "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
}

minor() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

PYTHON=$(python_312)
if [ -z "$PYTHON" ]; then
  PYTHON=python3
  echo "jax_env: there is no Python 3.12: JAX's tests run on the newest JAX of Python $(minor python3)"
fi
export PYTHON
scripts/python_env.sh tests/jax_suite/requirements.txt build/jax-venv
[ "$jobs" != packages ] || exit 0

if [ -x build/venv/bin/python ] && [ "$(minor build/venv/bin/python)" = "$(minor build/jax-venv/bin/python)" ]; then
  rm -rf build/jax-package
  exit 0  # the package of build/release serves
fi
# What JAX's tests call of the module takes hardly any of their time: it is not optimised.
cmake -S . -B build/jax-package -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O0 -DNDEBUG" -DHEDDLE_PYTHON=ON \
  -DPython_EXECUTABLE="$PWD/build/jax-venv/bin/python" -DHEDDLE_BUILT="$PWD/build/release" \
  -DHEDDLE_PYTHON_ONLY=ON -DHEDDLE_MPI=OFF >/dev/null
cmake --build build/jax-package --parallel "$jobs" --target heddle_core
