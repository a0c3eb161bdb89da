#!/usr/bin/env bash
# Shows what Heddle does today: a layout, and the moves from one layout to another.
#   scripts/run_demo.sh build/release/heddle
set -euo pipefail
heddle=$1

show() {
  printf '\n$ heddle'
  printf ' %q' "$@" | sed 's/\\\([][(){}@:,+*= ]\)/\1/g'
  printf '\n\n'
  "$heddle" "$@"
}

mesh=node=2,gpu=4
show doctor
# Gradients: every device has its own contribution to the sum.
show layout show '(1024, 4096) + P[sum node,gpu]' --mesh $mesh
# An optimizer that splits its state over all devices wants them so:
show layout show '(1024:2@node:4@gpu, 4096)' --mesh $mesh
show layout plan '(1024, 4096) + P[sum node,gpu]' '(1024:2@node:4@gpu, 4096)' --mesh $mesh
# A stencil keeps copies of its neighbours' edges; a small one is executed to prove the plan.
show layout plan '(64:4@gpu, 32)' '(64{halo=1}:4@gpu, 32)' --mesh gpu=4 --check
