#!/usr/bin/env bash
# Collectives over mpi and threads against MPI's own, in one run for every MPI that is installed.
#   scripts/bench_mesh.sh build/release [--ranks N] [--most BYTES]
set -euo pipefail
build=$1
shift
ranks=2
most=$((256 << 20))
while [ $# -gt 0 ]; do
  case $1 in
    --ranks) ranks=$2 ;;
    --most) most=$2 ;;
    *) echo "usage: $0 BUILD [--ranks N] [--most BYTES]" >&2; exit 2 ;;
  esac
  shift 2
done

# For root in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
found=0
for kind in openmpi mpich default; do
  module=$build/heddle_raw_$kind.so
  launcher=mpirun.$kind
  [ "$kind" = default ] && launcher=mpirun
  [ -e "$module" ] && command -v "$launcher" >/dev/null || continue
  found=1
  echo "## $kind: $("$launcher" --version | head -n 1)"
  bind=--bind-to
  [ "$kind" = mpich ] && bind=-bind-to
  "$launcher" -n "$ranks" $bind core "$build/heddle_bench_mesh" "$module" --most "$most"
done
[ "$found" = 1 ] || echo "bench-mesh: skipped, there is no MPI: install openmpi-bin and libopenmpi-dev"
