#!/usr/bin/env python3
"""What happens to the other ranks where one does not do its part; with real processes.

    tests/faults/run.py HEDDLE LAUNCHER FAULT      launcher: launch, openmpi or mpich

Every survivor has to end soon, with an error that names the lost rank, the step and the collective.
Status 77 where the launcher is not installed.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
import ranks  # noqa: E402

RANKS = 4
SOON = 5.0  # seconds
START = 100.0  # that ranks may take to start on a busy machine
RANK_VARIABLES = "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$HEDDLE_RANK}}"

# Rank 0 prints in its second turn: all have met in the first.
PROGRAM = """
func.func @main() -> tensor<1024xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %a = stablehlo.constant dense<1.0> : tensor<1024xf32>
  %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<1024xf32>
   cond {
    %n = stablehlo.constant dense<TURNS> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %second = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %k = "stablehlo.if"(%second) ({
      "interpreter.print"(%j) : (tensor<i32>) -> ()
      stablehlo.return %j : tensor<i32>
    }, {
      stablehlo.return %j : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %s = "stablehlo.all_reduce"(%x) ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = stablehlo.maximum %p, %q : tensor<f32>
        stablehlo.return %m : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}
      : (tensor<1024xf32>) -> tensor<1024xf32>
    stablehlo.return %k, %s : tensor<i32>, tensor<1024xf32>
   }
  return %r#1 : tensor<1024xf32>
}
"""


class Run:
    """A run of several ranks. `choose` is shell that sets FILE, knowing RANK; `options` are more
    words of the command; `child` makes it one of its shell."""

    def __init__(self, heddle, launcher, folder, choose, count=RANKS, options="", child=False):
        self.folder = folder
        for old in folder.glob("pid.*"):
            old.unlink()
        # Each rank leaves its process id.
        command, note = f"{heddle} run --plain $FILE {options}", f"> {folder}/pid.$RANK"
        script = f"RANK={RANK_VARIABLES}; FILE={folder}/a.mlir; {choose}; "
        script += (f"{command} & echo $! {note}; wait $!" if child
                   else f"echo $$ {note}; exec {command}")
        start = {
            "launch": [heddle, "launch", "-n", str(count), "--"],
            "openmpi": ["mpirun.openmpi", "-n", str(count)],
            "mpich": ["mpirun.mpich", "-disable-auto-cleanup", "-n", str(count)],
        }[launcher]
        self.output = folder / "output"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(start + ["sh", "-c", script], stdout=output,
                                            stderr=subprocess.STDOUT,
                                            env={**os.environ, **ranks.MPI_ENVIRONMENT},
                                            start_new_session=True)

    def pid(self, rank):
        return int((self.folder / f"pid.{rank}").read_text())

    def said(self):
        """What all have printed so far."""
        return self.output.read_text(errors="replace")

    def wait_until(self, there, what):
        """Waits for a state; it is an error where the run ends before it."""
        until = time.monotonic() + START
        while not there():
            if time.monotonic() > until or self.process.poll() is not None:
                self.kill()
                raise AssertionError(f"{what}\n--- output\n{self.said()}")
            time.sleep(0.02)

    def await_start(self):
        self.wait_until(lambda: "tensor<i32> { 2 }" in self.said(),
                        "the ranks do not come to their loop")

    def end(self, limit):
        """(status, output, seconds) once all is over."""
        begun = time.monotonic()
        try:
            self.process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {limit} s\n{self.said()}") from None
        return self.process.returncode, self.said(), time.monotonic() - begun

    def kill(self):
        """Nothing of it is left."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for rank in range(RANKS):
            with contextlib.suppress(OSError, ValueError):
                os.kill(self.pid(rank), signal.SIGKILL)
        self.process.wait()


def expect(condition, what, output):
    if not condition:
        raise AssertionError(f"{what}\n--- output\n{output}")


def survivors_speak(output, lost, least):
    """Every survivor names the lost rank, the step and the collective."""
    told = set()
    for match in re.finditer(r"rank (\d) was (in all_reduce \d+, |before step \d+, )", output):
        told.add(int(match.group(1)))
    expect(len(told - {lost}) >= least, f"only ranks {sorted(told)} said something", output)
    expect(re.search(rf"rank {lost} of 4 (is lost in step \d+|has not reached all_reduce \d+)",
                     output), f"nobody says that rank {lost} is lost", output)
    # In a collective, or between two of them: the kill may fall into either.
    expect(re.search(r"\(step \d+|was before step \d+", output), "no step is named", output)


def lost(heddle, launcher, folder, number):
    run = Run(heddle, launcher, folder, ":")
    run.await_start()
    os.kill(run.pid(2), number)
    status, output, seconds = run.end(SOON + 10)
    expect(status != 0, "the status is 0", output)
    # mpirun of MPICH ends the others with force as soon as one has been killed; some may still speak.
    if launcher != "mpich" or number != signal.SIGKILL:
        survivors_speak(output, 2, 3)
    expect(seconds < SOON, f"it took {seconds:.1f} s", output)
    return output


def killed(heddle, launcher, folder):
    output = lost(heddle, launcher, folder, signal.SIGKILL)
    if launcher != "mpich":
        expect("its process is gone" in output, "nobody says why", output)
    if launcher == "launch":
        expect("rank 2 of 4 was ended by signal 9" in output, "the launcher is silent", output)


def stopped(heddle, launcher, folder):
    output = lost(heddle, launcher, folder, signal.SIGSTOP)
    expect("its process is stopped" in output, "nobody says why", output)


def all_gone(run):
    """Whether no rank is left, or only what init has not collected yet."""
    def gone(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True
    return all(gone(run.pid(rank)) for rank in range(RANKS))


def abandoned(heddle, launcher, folder, number=signal.SIGKILL, child=False):
    """The launcher itself ends: its ranks do so with it."""
    run = Run(heddle, launcher, folder, ":", child=child)
    run.await_start()
    run.process.send_signal(number)
    until = time.monotonic() + SOON
    while not all_gone(run) and time.monotonic() < until:
        time.sleep(0.05)
    left = not all_gone(run)
    for rank in range(RANKS if left else 0):
        os.kill(run.pid(rank), signal.SIGKILL)
    status, output, _ = run.end(10)
    expect(not left, "ranks are left", output)
    # Where it may, it ends them itself and says by what it was ended.
    expected = -signal.SIGKILL if number == signal.SIGKILL else 128 + number
    expect(status == expected, f"the status is {status}", output)


def hangup(heddle, launcher, folder):
    abandoned(heddle, launcher, folder, signal.SIGHUP)


def abandoned_scripts(heddle, launcher, folder):
    """Ranks that are not children of the launcher, but theirs."""
    abandoned(heddle, launcher, folder, child=True)


def early(heddle, launcher, folder):
    """A rank is stopped before it has come to the others."""
    run = Run(heddle, launcher, folder, "if [ $RANK = 2 ]; then kill -STOP $$; fi")
    status, output, seconds = run.end(60)
    expect(status != 0, "the status is 0", output)
    expect("rank 2 of 4 has not joined the run: " in output, "nobody names it", output)
    expect("its process is stopped" in output, "nobody says why", output)
    # The start of the others is in it.
    expect(seconds < 2 * SOON, f"it took {seconds:.1f} s", output)


def apart(heddle, launcher, folder):
    """A rank runs for itself and does not come at all."""
    os.environ["HEDDLE_WATCHDOG"] = "0.3"  # ten times as long is the others' time
    alone = re.sub(r'(%\w+) = "stablehlo.all_reduce"\((%\w+)\).*?-> tensor<1024xf32>\n',
                   r"\1 = stablehlo.add \2, \2 : tensor<1024xf32>\n", PROGRAM, flags=re.DOTALL)
    (folder / "b.mlir").write_text(alone.replace("TURNS", "2000000000"))
    choose = f"WAY=auto; if [ $RANK = 1 ]; then WAY=threads; FILE={folder}/b.mlir; fi"
    run = Run(heddle, launcher, folder, choose, options="--transport $WAY")
    status, output, seconds = run.end(60)
    expect(status != 0, "the status is 0", output)
    expect("rank 1 of 4 has not joined the run: " in output, "nobody names it", output)
    expect(seconds < 4 * SOON, f"it took {seconds:.1f} s", output)


def count(heddle, launcher, folder):
    status, output, _ = Run(heddle, launcher, folder, ":", 3).end(60)
    expect(status != 0, "the status is 0", output)
    expect("the groups have the id 3, but this run has 3 of them" in output, "no reason", output)


def files(heddle, launcher, folder):
    (folder / "b.mlir").write_text(PROGRAM.replace("TURNS", "3"))
    choose = f"if [ $RANK = 1 ]; then FILE={folder}/b.mlir; fi"
    status, output, _ = Run(heddle, launcher, folder, choose).end(60)
    expect(status != 0, "the status is 0", output)
    expect("rank 1 of 4 runs another program than rank 0" in output, "no reason", output)


def well(heddle, launcher, folder):
    (folder / "a.mlir").write_text(PROGRAM.replace("TURNS", "50"))
    status, output, _ = Run(heddle, launcher, folder, ":").end(60)
    expect(status == 0, f"the status is {status}", output)
    expect(output.count("main ran in") == 1, "only rank 0 reports", output)


# Two sums that do not wait for one another. Before the one are two kernels where memory is slow, and
# more where functions are; before the other one is a product.
TWO_SUMS = """
func.func @main() -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.iota dim = 0 : MATRIX
  %k = stablehlo.iota dim = 1 : MATRIX
  %small = stablehlo.constant dense<0.001> : MATRIX
  %ik = stablehlo.subtract %i, %k : MATRIX
  %x = stablehlo.multiply %ik, %small : MATRIX
  %q = PRODUCT(%x)
  %e0 = stablehlo.exponential %x : MATRIX
  %t0 = stablehlo.transpose %e0, dims = [1, 0] : (MATRIX) -> MATRIX
  %y0 = stablehlo.add %e0, %t0 : MATRIX
  %e1 = stablehlo.tanh %y0 : MATRIX
  %t1 = stablehlo.transpose %e1, dims = [1, 0] : (MATRIX) -> MATRIX
  %y1 = stablehlo.subtract %e1, %t1 : MATRIX
  %c = SUM(%y1)
  %d = SUM(%q)
  %e = stablehlo.add %c, %d : MATRIX
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.maximum across dimensions = [1] :
      (MATRIX, tensor<f32>) -> tensor<512xf32>
  %s = stablehlo.slice %r [0:512:128] : (tensor<512xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
"""
PRODUCT = r"stablehlo.dot_general \1, %x, contracting_dims = [1] x [0] : (MATRIX, MATRIX) -> MATRIX"
SUM = r""""stablehlo.all_reduce"(\1) ({
      ^bb0(%m: tensor<f32>, %n: tensor<f32>):
        %m0 = stablehlo.add %m, %n : tensor<f32>
        stablehlo.return %m0 : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}
      : (MATRIX) -> MATRIX"""


def figures(heddle, launcher, folder):
    """Ranks that measured machines of their own, and have other kernels, do one plan all the same."""
    text = re.sub(r"SUM\((%\w+)\)", SUM, re.sub(r"PRODUCT\((%\w+)\)", PRODUCT, TWO_SUMS))
    (folder / "a.mlir").write_text(text.replace("MATRIX", "tensor<512x512xf32>"))
    os.environ["HEDDLE_THREADS"] = "2"  # figures are kept for a machine and its threads
    machine = json.loads(subprocess.run([heddle, "doctor", "--json"], check=True, text=True,
                                        capture_output=True).stdout)["figures_of"]
    kernels = []
    for rank in range(RANKS):
        memory, functions = (1e7, 1e13) if rank % 2 else (1e13, 1e6)
        kept = {"machine": machine, "launch_seconds": 1e-2 if rank % 2 else 1e-9,
                "light_rate": functions, "heavy_rate": functions, "near_rate": 10 * memory,
                "copy_rate": memory, "worker_copy_rate": memory}
        (folder / f"figures{rank}").mkdir()
        (folder / f"figures{rank}/machine.json").write_text(json.dumps(kept))
        report = subprocess.run([heddle, "compile", str(folder / "a.mlir"), "--no-code", "--plain"],
                                check=True, text=True, capture_output=True,
                                env={**os.environ, "HEDDLE_CACHE_DIR": str(folder / f"figures{rank}")})
        kernels.append(re.search(r"(\d+) kernels", report.stdout).group(1))
    expect(kernels[0] != kernels[1], f"the figures give the same kernels: {kernels}", report.stdout)
    shown = []
    for choose in (f"export HEDDLE_CACHE_DIR={folder}/figures0",
                   f"export HEDDLE_CACHE_DIR={folder}/figures$RANK"):
        status, output, _ = Run(heddle, launcher, folder, choose).end(60)
        expect(status == 0, f"the status is {status}", output)
        shown.append(re.findall(r"\[[-0-9.e, +]+\]", output))
        expect(shown[-1], "no result is shown", output)
    expect(shown[0] == shown[1], f"other results: {shown}", "")


GPT = Path(__file__).resolve().parents[2] / "examples/gpt"


def expect_loss_is_named(run, launcher):
    """Kills rank 2 of 4; the others end soon and say so, but where mpirun ends them first."""
    os.kill(run.pid(2), signal.SIGKILL)
    status, output, seconds = run.end(SOON + 10)
    expect(status != 0, "the status is 0", output)
    if launcher != "mpich":
        expect(re.search(r"rank 2 of 4 (is lost in step \d+|has not reached (recv|send) \d+)", output),
               "nobody says that rank 2 is lost", output)
        expect(re.search(r"rank \d was (in \w+ (\d+, |at )|before step)", output),
               "nobody says where it was", output)
    expect(seconds < SOON, f"it took {seconds:.1f} s", output)


def pipeline(heddle, launcher, folder):
    """A stage of a pipeline is lost: the others end, whether they compute or wait for a message."""
    options = (f"--io {GPT}/step.safetensors --mesh pp=4 --pipeline pp --micro-batches 4 "
               "--steps 100000000 --carry arg0-15=result1-16")
    run = Run(heddle, launcher, folder, f"FILE={GPT}/step.mlir", options=options)
    run.wait_until(lambda: " of 100000000" in run.said(), "the pipeline does not come to a step")
    expect_loss_is_named(run, launcher)


SCHEDULES = GPT.parent / "schedules"


def fused(heddle, launcher, folder):
    """A collective with a product or an optimiser inside gives the same bits everywhere; a rank that is
    lost in it is named."""
    for name, schedule in (("mlp", "inside"), ("lamb", "fused"), ("adam", "fused")):
        words = f"--input random:1 --schedule {SCHEDULES}/{name}.{schedule}.schedule"
        alone = subprocess.run(f"{heddle} run --plain {SCHEDULES}/{name}.mlir {words}", shell=True,
                               capture_output=True, text=True, check=True).stdout
        run = Run(heddle, launcher, folder, f"FILE={SCHEDULES}/{name}.mlir", options=words)
        status, output, _ = run.end(START)
        expect(status == 0, "it does not run", output)
        for line in re.findall(r"result \d +tensor.*", alone):
            expect(line.strip() in output, f"other results than {line}", output)
    carry = "--steps 100000000 --carry arg1-3=result0-2"
    run = Run(heddle, launcher, folder, f"FILE={SCHEDULES}/adam.mlir", options=f"{words} {carry}")
    run.wait_until(lambda: " of 100000000" in run.said(), "the ranks do not come to a step")
    expect_loss_is_named(run, launcher)


FAULTS = {"well": well, "fused": fused, "killed": killed, "stopped": stopped, "count": count, "files": files,
          "abandoned": abandoned, "abandoned_scripts": abandoned_scripts, "hangup": hangup,
          "early": early, "apart": apart, "figures": figures, "pipeline": pipeline}


def missing(heddle, launcher):
    """What has to be installed for a launcher; empty where it is there."""
    if launcher != "launch" and shutil.which(f"mpirun.{launcher}") is None:
        return f"there is no mpirun.{launcher}: install openmpi-bin or mpich"
    module = Path(heddle).parent / f"heddle_mpi_{launcher}.so"
    if launcher != "launch" and not module.exists():
        return f"{module.name} was not built: install libopenmpi-dev or libmpich-dev first"
    return ""


def main():
    heddle, launcher, fault = sys.argv[1:]
    if missing(heddle, launcher):
        print("skipped: " + missing(heddle, launcher))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.mlir").write_text(PROGRAM.replace("TURNS", "2000000000"))
        try:
            FAULTS[fault](heddle, launcher, Path(folder))
        except AssertionError as error:
            print(f"{launcher}, {fault}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
