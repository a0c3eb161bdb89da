#!/usr/bin/env python3
"""Runs of many steps that are cut short: what was saved is good, and going on from it ends as a run
that nothing has disturbed.

    tests/faults/steps.py HEDDLE LAUNCHER FAULT      fault: killed, killed_first, stopped, options,
                                                     disk

Status 77 where the launcher is not installed, or a small disk cannot be mounted.
"""

import array
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import run as faults
from run import Run, expect

# w settles, v adds up all that it has been, n counts.
PROGRAM = """
func.func @main(%w: tensor<8x12xf32>, %v: tensor<8x12xf32>, %n: tensor<i32>, %x: tensor<8x8xf32>)
    -> (tensor<f32>, tensor<8x12xf32>, tensor<8x12xf32>, tensor<i32>) {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  %t = stablehlo.sine %d : tensor<8x12xf32>
  %a = stablehlo.constant dense<0.02> : tensor<8x12xf32>
  %b = stablehlo.constant dense<0.75> : tensor<8x12xf32>
  %c = stablehlo.constant dense<0.01> : tensor<8x12xf32>
  %at = stablehlo.multiply %t, %a : tensor<8x12xf32>
  %bw = stablehlo.multiply %w, %b : tensor<8x12xf32>
  %s = stablehlo.add %at, %bw : tensor<8x12xf32>
  %w1 = stablehlo.add %s, %c : tensor<8x12xf32>
  %v1 = stablehlo.add %v, %w1 : tensor<8x12xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%v1 init: %zero) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<8x12xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n1 = stablehlo.add %n, %one : tensor<i32>
  return %l, %w1, %v1, %n1 : tensor<f32>, tensor<8x12xf32>, tensor<8x12xf32>, tensor<i32>
}
"""
INPUT = "--input random:1"
MESH = "--mesh dp=2,tp=2 --shard arg0=dp,tp --shard arg1=_,dp+tp"
OTHER_MESHES = ["--mesh x=3 --shard arg1=x,_", "--mesh x=2,y=4 --shard arg0=x,y", ""]


def numbers(file):
    """All f32 of a safetensors file."""
    content = file.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    data = content[8 + length:]
    return {name: array.array("f", data[slice(*entry["data_offsets"])])
            for name, entry in header.items() if entry["dtype"] == "F32"}


def alone(heddle, folder, options):
    """A run in one process; its output."""
    done = subprocess.run(f"{heddle} run --plain {folder}/a.mlir {INPUT} {options}", shell=True,
                          capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 0, f"status {done.returncode} of {options}", done.stdout + done.stderr)
    return done.stdout + done.stderr


def await_checkpoint(run, folder, step):
    run.wait_until(lambda: any(int(p.name.split("-")[1]) >= step for p in folder.glob("step-*")),
                   "no checkpoint is saved")


def named_checkpoint(output):
    found = re.search(r"the last good checkpoint is (\S+): continue on any number of devices with\n"
                      r".*heddle (?:launch -n \d+ )?run .* --restore (\S+)", output)
    expect(found and found.group(1) == found.group(2), "nobody says how to go on", output)
    expect(len(re.findall("the last good checkpoint", output)) == 1, "it is said twice", output)
    return Path(found.group(1))


def cut_short(heddle, launcher, folder, lost, number):
    saved = folder / "run"
    run = Run(heddle, launcher, folder, ":",
              options=f"{INPUT} {MESH} --steps 1000000000 --save {saved}/step --every 20 --keep 3")
    await_checkpoint(run, saved, 60)
    os.kill(run.pid(lost), number)
    status, output, seconds = run.end(faults.SOON + 10)
    expect(status != 0, "the status is 0", output)
    expect(seconds < faults.SOON, f"it took {seconds:.1f} s", output)
    last = max(saved.glob("step-*"), key=lambda p: int(p.name.split("-")[1]))
    if launcher != "mpich" or number != signal.SIGKILL:  # its mpirun kills those who would say so
        named = named_checkpoint(output)
        expect(named.exists(), f"{named} is named, but not there", output)
    end = int(last.name.split("-")[1]) + 7
    # The same mesh: the same bits, as if nothing had happened.
    for name, more in (("whole", ""), ("again", f"--restore {saved}")):
        status, output, _ = Run(heddle, launcher, folder, ":",
                                options=f"{INPUT} {MESH} --steps {end} {more} "
                                        f"--output {folder}/{name}.safetensors").end(60)
        expect(status == 0, f"the status of {name} is {status}", output)
    whole, again = folder / "whole.safetensors", folder / "again.safetensors"
    expect(whole.read_bytes() == again.read_bytes(), "other bits than undisturbed", output)
    # Other meshes: the same numbers.
    for mesh in OTHER_MESHES:
        output = alone(heddle, folder, f"{mesh} --steps {end} --restore {saved} "
                                       f"--output {folder}/other.safetensors")
        a, b = numbers(whole), numbers(folder / "other.safetensors")
        worst = max(abs(x - y) / (1 + abs(x)) for name in a for x, y in zip(a[name], b[name]))
        expect(worst < 1e-4, f"{mesh} differs by {worst}", output)


def options(heddle, launcher, folder):
    """Ranks that are told different things."""
    status, output, _ = Run(heddle, launcher, folder, "N=$((5 + RANK / 3))",
                            options=f"{INPUT} {MESH} --steps $N").end(60)
    expect(status != 0, "the status is 0", output)
    expect("rank 3 of 4 takes other steps than rank 0" in output, "no reason", output)


def disk(heddle, launcher, folder):
    small = folder / "disk"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small],
                      capture_output=True, check=False).returncode != 0:
        print("skipped: a small disk can be mounted only by root")
        return 77
    try:
        status, output, _ = Run(heddle, launcher, folder, ":",
                                options=f"{INPUT} {MESH} --steps 1000 --save {small}/run/step "
                                        "--every 10").end(60)
        expect(status != 0, "the status is 0", output)
        expect("No space left on device" in output, "nobody says that the disk is full", output)
        good = named_checkpoint(output)
        output = alone(heddle, folder, f"--steps 1000 --restore {good}")
        expect(f"goes on from {good}" in output, "it cannot be gone on from", output)
        expect("passed over" not in alone(heddle, folder, f"--steps 1000 --restore {small}/run"),
               "half of one is left", output)
    finally:
        subprocess.run(["umount", small], check=False)
    return 0


def main():
    heddle, launcher, fault = sys.argv[1:]
    if faults.missing(heddle, launcher):
        print("skipped: " + faults.missing(heddle, launcher))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.mlir").write_text(PROGRAM)
        try:
            if fault == "disk":
                return disk(heddle, launcher, Path(folder))
            if fault == "options":
                options(heddle, launcher, Path(folder))
                return 0
            # Once the one that speaks for all, once another.
            cut_short(heddle, launcher, Path(folder), 0 if fault == "killed_first" else 2,
                      signal.SIGSTOP if fault == "stopped" else signal.SIGKILL)
        except AssertionError as error:
            print(f"{launcher}, {fault}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
