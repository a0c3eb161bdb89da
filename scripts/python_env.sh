#!/usr/bin/env bash
# Makes build/venv from python/requirements.txt; does nothing while there is no such file.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=python/requirements.txt
done_for=build/venv/requirements.txt
[ -f "$wanted" ] || exit 0
cmp -s "$wanted" "$done_for" && exit 0

python3 -m venv build/venv
build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$wanted"
cp "$wanted" "$done_for"
