#!/usr/bin/env python3
"""Whole training steps on one GPU: GPT-2 124M and ResNet-50 in bf16 and f32, by Heddle, XLA and torch.compile.

    bench/h200/steps.py [FILE.mlir...] [--only heddle,xla,torch] [--types bf16,f32] [--runs N] [--seconds S] [--profile N]

Heddle and XLA (through JAX) run the same StableHLO text, torch the same models (torch_steps.py). bf16 is the text
with every f32 written as bf16; torch has its sums of losses in f32 then. Arguments are random and stay on the
device; nothing is donated. Times are of many runs one after the other. Each library and step is a process of its own
with a limit; a line is printed as soon as it is there. Heddle comes first, from an empty cache and then, which is timed, from
that cache (cold and warm start). Then torch compiles all steps at the same time. Whoever is timed has the GPU alone, and so has XLA when it compiles, since it tries kernels then;
of three times the one in the middle counts. The tool is $HEDDLE_TIME_PROGRAM, or build/release/heddle_time_program.
"""

import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("HEDDLE_TIME_PROGRAM", ROOT / "build/release/heddle_time_program"))
PROGRAMS = [ROOT.parent / "shared/programs" / f"{name}.mlir" for name in ("gpt2_124m_train", "resnet50_train")]
LAYER_NORM = """func.func @main(%x: tensor<8192x4096xf32>, %g: tensor<4096xf32>, %b: tensor<4096xf32>) -> tensor<8192x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<4096.0> : tensor<8192xf32>
  %tiny = stablehlo.constant dense<1.0e-5> : tensor<8192xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<8192x4096xf32>, tensor<f32>) -> tensor<8192xf32>
  %mean = stablehlo.divide %sum, %n : tensor<8192xf32>
  %means = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<8192xf32>) -> tensor<8192x4096xf32>
  %off = stablehlo.subtract %x, %means : tensor<8192x4096xf32>
  %square = stablehlo.multiply %off, %off : tensor<8192x4096xf32>
  %squares = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<8192x4096xf32>, tensor<f32>) -> tensor<8192xf32>
  %variance = stablehlo.divide %squares, %n : tensor<8192xf32>
  %more = stablehlo.add %variance, %tiny : tensor<8192xf32>
  %scale = stablehlo.rsqrt %more : tensor<8192xf32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<8192xf32>) -> tensor<8192x4096xf32>
  %even = stablehlo.multiply %off, %scales : tensor<8192x4096xf32>
  %gains = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<4096xf32>) -> tensor<8192x4096xf32>
  %gained = stablehlo.multiply %even, %gains : tensor<8192x4096xf32>
  %shifts = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4096xf32>) -> tensor<8192x4096xf32>
  %y = stablehlo.add %gained, %shifts : tensor<8192x4096xf32>
  return %y : tensor<8192x4096xf32>
}
"""


# ---- programs

def in_bf16(text):
    """The same program with bf16 in place of f32, and bit patterns of constants cut to it."""
    def pattern(found):
        bits = found[1]
        if len(bits) == 8:
            return f"dense<0x{bits[:4]}>"
        raise ValueError(f"a constant of many elements, {len(bits)} digits, cannot be cut")
    text = re.sub(r'dense<0x([0-9A-Fa-f]{8})>(?= : tensor<[0-9x]*f32>)', pattern, text)
    return re.sub(r"\bf32\b|(?<=x)f32\b", "bf16", text)


def text_of(file, dtype):
    text = Path(file).read_text(encoding="utf-8")
    return in_bf16(text) if dtype == "bf16" else text


# ---- who has the GPU: torch's compilers share it, XLA and one that is timed have it alone

class Turn:
    """A lock between processes, held by file."""
    def __init__(self, path, how):
        self.file = open(path, "w", encoding="utf-8")
        self.how = how

    def __enter__(self):
        fcntl.flock(self.file, self.how)

    def __exit__(self, *_):
        self.file.close()


def compiling(folder):
    return Turn(f"{folder}/gpu", fcntl.LOCK_SH)


def alone(folder):
    return Turn(f"{folder}/gpu", fcntl.LOCK_EX)


# ---- each of them, in a process of its own: it prints one line of JSON

def run_tool(text, runs, cache, limit, profile=0):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "step.mlir"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([str(TOOL), str(file), "--runs", str(runs), "--profile", str(profile)],
                              capture_output=True, text=True, check=False, timeout=limit,
                              env={**os.environ, "HEDDLE_CACHE_DIR": cache})
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-200:])
    return {**json.loads(done.stdout), "profile": done.stderr.rstrip() if profile else ""}


def heddle_times(text, runs, profile):
    with tempfile.TemporaryDirectory() as cache:
        cold = run_tool(text, 1, cache, 120)["compile_s"]
        times = run_tool(text, runs, cache, 120, profile)
    return {**times, "compile_s": cold, "warm_s": times["compile_s"]}


def xla_times(text, runs):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    dtypes = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f64": jnp.float64, "i32": jnp.int32, "i1": jnp.bool_}
    text = re.sub(r"\{?(tf.aliasing_output = \d+ : i32|jax.buffer_donor = true)\}?", "", text)
    with mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(text)
        main = next(op for op in module.body.operations if op.attributes["sym_name"].value == "main")
        types = [str(t) for t in ir.FunctionType(main.attributes["function_type"].value).inputs]
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        begin = time.perf_counter()
        devices = xla_client.DeviceList(tuple(jax.devices()[:1]))
        program = compiler.backend_compile_and_load(jax.devices()[0].client, module, devices, options, [])
        compiled = time.perf_counter() - begin
    numbers, arguments = np.random.default_rng(1), []

    def filled():
        for text_of_type in types:
            sizes, word = re.match(r"tensor<((?:\d+x)*)(\w+)>", text_of_type).groups()
            shape = tuple(int(size) for size in sizes.split("x")[:-1])
            if dtypes[word] in (jnp.int32, jnp.bool_):
                yield jnp.asarray(numbers.integers(0, 2, shape), dtypes[word])
            else:
                part = numbers.standard_normal(min(int(np.prod(shape)), 1 << 20), np.float32)
                yield jnp.asarray(np.resize(part, shape), dtypes[word])

    def timed(count):
        begin = time.perf_counter()
        for _ in range(count):
            last = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        jax.block_until_ready(last)
        return time.perf_counter() - begin
    arguments.extend(filled())
    timed(2)
    seconds = sorted((timed(1 + runs) - timed(1)) / runs for _ in range(3))[1]
    return {"ms": seconds * 1e3, "compile_s": compiled}


def torch_times(name, dtype, runs, folder):
    from torch_steps import Step
    with compiling(folder):
        step = Step(name, dtype)
        compiled = step.compile()
    with alone(folder):
        return {"ms": step.seconds(runs) * 1e3, "compile_s": compiled}


def one(who, file, dtype, runs, folder, profile):
    """What a process of its own does."""
    if who == "heddle":
        times = heddle_times(text_of(file, dtype), runs, profile)
    elif who == "start":
        times = heddle_times(LAYER_NORM, 3, 0)
    elif who == "xla":
        with alone(folder):
            times = xla_times(text_of(file, dtype), runs)
    else:
        times = torch_times(Path(file).stem, dtype, runs, folder)
    print(json.dumps(times), flush=True)


# ---- all of them

class Table:
    def __init__(self):
        self.rows, self.lock, self.begin = {}, threading.Lock(), time.monotonic()

    def add(self, who, step, dtype, found):
        with self.lock:
            self.rows[who, step, dtype] = found
            line = f"{step:18} {dtype:5} {who:7}"
            if "ms" in found:
                line += f" {found['ms']:8.2f} ms, compiled in {found['compile_s']:.1f} s"
            else:
                line += f" {found['error']}"
            if "warm_s" in found:
                line += f", from disk {found['warm_s']:.2f} s"
            print(f"{line}   [{time.monotonic() - self.begin:.0f} s]", flush=True)
            if found.get("profile"):
                print(found["profile"], flush=True)

    def summary(self):
        for step, dtype in dict.fromkeys((step, dtype) for _, step, dtype in self.rows):
            ms = {who: self.rows.get((who, step, dtype), {}).get("ms") for who in ("heddle", "xla", "torch")}
            peers = [ms[who] for who in ("xla", "torch") if ms[who]]
            if ms["heddle"] and peers:
                print(f"{step:18} {dtype:5} {min(peers) / ms['heddle']:.2f} x the best peer")


def measure(who, file, dtype, options, folder, table):
    step = "layer norm" if who == "start" else Path(file).stem
    left = options.seconds - (time.monotonic() - table.begin)
    command = [sys.executable, __file__, "--one", who, "--types", dtype, "--runs", str(options.runs),
               "--folder", folder, "--profile", str(options.profile), str(file)]
    try:
        if left <= 1:
            raise TimeoutError("there was no time left")
        # A session of its own, so that those that it starts end with it.
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "4"})
        told, errors = process.communicate(timeout=left)
        found = json.loads(told.strip().splitlines()[-1]) if process.returncode == 0 and told.strip() \
            else {"error": "failed: " + (errors.strip().splitlines() or ["it said nothing"])[-1][-200:]}
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        found = {"error": f"did not come to its end in {left:.0f} s"}
    except TimeoutError as error:
        found = {"error": str(error)}
    table.add("heddle" if who == "start" else who, step, dtype, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", default="heddle,xla,torch", help="who, with commas between")
    parser.add_argument("--types", default="bf16,f32")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=420, help="that all of it may take")
    parser.add_argument("--profile", type=int, default=0, help="so many lines on where Heddle's time goes")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.files[0], options.types, options.runs, options.folder, options.profile)
        return
    who = options.only.split(",")
    steps = [(file, dtype) for dtype in options.types.split(",") for file in options.files or PROGRAMS]
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        def go(name, file, dtype):
            measure(name, file, dtype, options, folder, table)
        if "heddle" in who:
            go("start", "-", "f32")
            for file, dtype in steps:
                go("heddle", file, dtype)
        known = [file.stem for file in PROGRAMS]
        threads = [threading.Thread(target=go, args=(name, file, dtype))
                   for name in ("xla", "torch") if name in who for file, dtype in steps
                   if name == "xla" or file.stem in known]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    table.summary()


if __name__ == "__main__":
    main()
