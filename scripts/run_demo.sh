#!/usr/bin/env bash
# Shows what Heddle does today: a program that learns, a layout, and the moves from one layout to
# another.
#   scripts/run_demo.sh build/release/heddle
set -euo pipefail
heddle=$(realpath "$1")
cd "$(dirname "$0")/.."

show() {
  printf '\n$ heddle'
  printf ' %q' "$@" | sed 's/\\\([][(){}@:,+*= ]\)/\1/g'
  printf '\n\n'
  "$heddle" "$@"
}

# The value of the result called $1 in a report.
loss() { awk -v name="'$1'" 'index($1, name) { print $3; exit }'; }

show doctor

# A small GPT as JAX exports it (examples/gpt/gpt.py): its loss, then eight training steps in a
# loop. Both are compared with what JAX gave.
gpt=examples/gpt
before=$(show run $gpt/forward.mlir --io $gpt/forward.safetensors --check)
after=$(show run $gpt/train.mlir --io $gpt/train.safetensors --check)
printf '%s\n%s\n' "$before" "$after"
# The same step compiled: kernels, then the time of both.
show run $gpt/train.mlir --io $gpt/train.safetensors --check --repeat 5 --explain | tail -n 6
seconds() {
  "$heddle" run $gpt/train.mlir --io $gpt/train.safetensors --repeat 3 --engine "$1" --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["functions"][0]["median_ms"])'
}
compiled=$(seconds compiled) interpreted=$(seconds interpreter)
awk -v c="$compiled" -v i="$interpreted" 'BEGIN {
  printf "\neight training steps: %.1f ms compiled, %.0f ms interpreted: %.0f times as fast\n", c, i, i / c }'
printf '\nthe loss of the GPT is %s before training and %s after\n' \
  "$(loss loss <<< "$before")" "$(loss loss_after <<< "$after")"

# A step on four devices, which are threads here: the batch over dp, the inner width of the layers over
# tp. Everything else follows. Then the eight steps of the loop.
step=(--mesh dp=2,tp=2 --shard 'tensor<4x16xi32>=dp,_' --shard 'tensor<32x128xf32>=_,tp'
  --shard 'tensor<128x32xf32>=tp,_')
show plan $gpt/step.mlir "${step[@]}"
show run $gpt/step.mlir "${step[@]}" --io $gpt/step.safetensors --check --repeat 20
show run $gpt/train.mlir "${step[@]/tensor/value:tensor}" --io $gpt/train.safetensors --check --repeat 5

# Many steps: the data over four devices, checkpoints on the way; then from the middle of it on with
# two of them.
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
fit=(examples/fit/step.mlir --input random:1 --shard arg1=dp,_ --steps 200)
show run "${fit[@]}" --mesh dp=4 --save "$run/step" --every 50
show run "${fit[@]}" --mesh dp=2 --restore "$run/step-100"

mesh=node=2,gpu=4
# Gradients: every device has its own contribution to the sum.
show layout show '(1024, 4096) + P[sum node,gpu]' --mesh $mesh
# An optimizer that splits its state over all devices wants them so:
show layout show '(1024:2@node:4@gpu, 4096)' --mesh $mesh
show layout plan '(1024, 4096) + P[sum node,gpu]' '(1024:2@node:4@gpu, 4096)' --mesh $mesh
# A stencil keeps copies of its neighbours' edges; a small one is executed to prove the plan.
show layout plan '(64:4@gpu, 32)' '(64{halo=1}:4@gpu, 32)' --mesh gpu=4 --check
