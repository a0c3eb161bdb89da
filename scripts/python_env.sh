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
python=$folder/bin/python
pip=("$python" -m pip install --quiet --disable-pip-version-check)
# uv installs in a third of pip's time. It knows nothing of pip's settings: who has an index of their own
# gets pip, and so does who has no uv.
own_index() { "$python" -m pip config list 2>/dev/null | grep -q "index-url\|no-index"; }
if own_index || ! "${pip[@]}" uv 2>/dev/null ||
   ! UV_LINK_MODE=copy "$folder/bin/uv" pip install --quiet --python "$python" -r "$wanted" 2>/dev/null; then
  "${pip[@]}" -r "$wanted"
fi
# Tests leave nothing behind, so that what they import would be compiled in every process: here once. What is
# large and hardly imported is left out.
env -u PYTHONDONTWRITEBYTECODE "$python" -m compileall -q -j 2 \
  -x '/(tests?|mypy|mypyc|IPython|jedi|pip|nvidia|debugpy|pygments|setuptools|ipykernel|parso)/' "$folder"/lib/python3*/site-packages || true
cp "$wanted" "$done_for"
