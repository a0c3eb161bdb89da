#!/usr/bin/env bash
# Makes a Python environment with the packages of a requirements file; does nothing while there is
# no such file, or where the environment has them.
#   [PYTHON=python3] scripts/python_env.sh [python/requirements.txt [build/venv]]
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=${1:-python/requirements.txt}
folder=${2:-build/venv}
done_for=$folder/requirements.txt
[ -f "$wanted" ] || exit 0
cmp -s "$wanted" "$done_for" && exit 0

"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$done_for"
