#!/usr/bin/env python3
"""Whole training steps on one GPU: the same StableHLO text by XLA, through JAX, and by Heddle; the same models by
torch.compile (torch_steps.py).

    bench/h200/steps.py [FILE.mlir...] [--bf16] [--runs N] [--only heddle,jax,torch]

Without files: GPT-2 124M and ResNet-50 of ../shared/programs. --bf16 takes the same programs with every
f32 written as bf16; torch has its sums of losses in f32 then. Arguments are random and stay on the device; nothing is donated. Times are of many
runs one after the other. The tool is $HEDDLE_TIME_PROGRAM, or build/release/heddle_time_program.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("HEDDLE_TIME_PROGRAM", ROOT / "build/release/heddle_time_program"))
PROGRAMS = [ROOT.parent / "shared/programs" / f"{name}.mlir" for name in ("gpt2_124m_train", "resnet50_train")]


def in_bf16(text):
    """The same program with bf16 in place of f32, and bit patterns of constants cut to it."""
    def pattern(found):
        bits = found[1]
        if len(bits) == 8:
            return f"dense<0x{bits[:4]}>"
        raise ValueError(f"a constant of many elements, {len(bits)} digits, cannot be cut")
    text = re.sub(r'dense<0x([0-9A-Fa-f]{8})>(?= : tensor<[0-9x]*f32>)', pattern, text)
    return re.sub(r"\bf32\b|(?<=x)f32\b", "bf16", text)


def jax_seconds(text, runs):
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
    for text_of_type in types:
        sizes, word = re.match(r"tensor<((?:\d+x)*)(\w+)>", text_of_type).groups()
        shape = tuple(int(size) for size in sizes.split("x")[:-1])
        if dtypes[word] in (jnp.int32, jnp.bool_):
            arguments.append(jnp.asarray(numbers.integers(0, 2, shape), dtypes[word]))
        else:
            part = numbers.standard_normal(min(int(np.prod(shape)), 1 << 20), np.float32)
            arguments.append(jnp.asarray(np.resize(part, shape), dtypes[word]))

    def timed(count):
        begin = time.perf_counter()
        for _ in range(count):
            last = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        jax.block_until_ready(last)
        return time.perf_counter() - begin
    timed(2)
    return sorted((timed(1 + runs) - timed(1)) / runs for _ in range(3))[1], compiled


def heddle_times(text, runs):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "step.mlir"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([str(TOOL), str(file), "--runs", str(runs)], capture_output=True, text=True,
                              check=False, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[-200:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="heddle,jax,torch", help="who, with commas between")
    options = parser.parse_args()
    who = options.only.split(",")
    for file in options.files or PROGRAMS:
        text = file.read_text(encoding="utf-8")
        name = file.stem
        if options.bf16:
            text, name = in_bf16(text), name + " bf16"
        line = f"{name:28}"
        if "heddle" in who:
            times = heddle_times(text, options.runs)
            line += f" heddle {times['ms']:8.2f} ms (compiled in {times['compile_s']:.1f} s)" if "ms" in times else f" heddle: {times['error']}"
        if "jax" in who:
            seconds, compiled = jax_seconds(text, options.runs)
            line += f"  xla {seconds * 1e3:8.2f} ms (compiled in {compiled:.1f} s)"
        if "torch" in who and file.stem in ("gpt2_124m_train", "resnet50_train"):
            import torch
            from torch_steps import torch_seconds
            dtype = torch.bfloat16 if options.bf16 else torch.float32
            seconds, compiled = torch_seconds(file.stem, dtype, options.runs)
            line += f"  torch {seconds * 1e3:8.2f} ms (compiled in {compiled:.1f} s)"
        print(line, flush=True)


if __name__ == "__main__":
    main()
