#!/usr/bin/env bash
# Shows what Heddle does today.
#   scripts/run_demo.sh build/release/heddle
set -euo pipefail
heddle=$1

show() {
  printf '\n$ heddle %s\n' "$1"
  eval "\"\$heddle\" $1"
}

show 'doctor'
show 'layout show "(64:8@gpu, 128)" --mesh gpu=8'
