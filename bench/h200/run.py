#!/usr/bin/env python3
"""Programs on one GPU: the floor, torch.compile, JAX and Heddle, side by side.

    bench/h200/run.py [NAME...] [--runs N] [--alone] [--autotune] [--json FILE]

The floor is the least that a program has to move, at the rate of a large copy on this device; a share
is the floor over the time. All times are of many calls one after the other with the same arguments on the
device, less few of them, over the difference, so nothing is flushed from the L2 cache for anybody. Heddle's results
are compared with torch's in float64 first. `--autotune` lets torch try more (max-autotune). The tool is
$HEDDLE_TIME_PROGRAM, or build/release/heddle_time_program.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path.insert(0, str(Path(__file__).parent))
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402
import programs  # noqa: E402
import torch  # noqa: E402
from results import furthest, read_tensors, write_tensors  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("HEDDLE_TIME_PROGRAM", ROOT / "build/release/heddle_time_program"))
MOST = 65537  # numbers that are drawn for an argument, then repeated
COMPILERS = 8  # processes that compile for torch at the same time
COMPILE_SECONDS = 120  # that they have


def seconds_of(call, wait, runs):
    """Of one call, by the difference of many and few."""
    def timed(count):
        begin = time.perf_counter()
        for _ in range(count):
            last = call()
        wait(last)
        return time.perf_counter() - begin
    timed(3)
    few = max(1, runs // 5)
    return sorted((timed(few + runs) - timed(few)) / runs for _ in range(5))[2]


def wait_for_torch(_):
    torch.cuda.synchronize()


def copy_rate():
    x = torch.ones(1 << 29, device="cuda")
    y = torch.empty_like(x)
    return 2 * x.nbytes / seconds_of(lambda: y.copy_(x), wait_for_torch, 20)


def graph_of(call):
    """A replay of what it launches."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def torch_times(program, leaves, runs, autotune):
    arguments = peers.nested(program.arguments, leaves)
    function = peers.compiled(program.name, autotune)
    call = lambda: function(*arguments)
    times = {"torch_ms": seconds_of(call, wait_for_torch, runs) * 1e3}
    try:
        times["torch_graph_ms"] = seconds_of(graph_of(call), wait_for_torch, runs) * 1e3
    except RuntimeError as error:
        torch.cuda.synchronize()
        times["torch_graph_error"] = str(error)[:80]
    return times


def jax_times(program, numbers, runs):
    def filled(argument, given):
        whole = jnp.tile(jnp.asarray(given), -(-argument.count() // len(given)))
        return whole[:argument.count()].reshape(argument.shape)
    leaves = [filled(a, given) for a, given in zip(program.leaves(), numbers)]
    arguments = jax.tree.unflatten(jax.tree.structure(program.arguments), leaves)
    function = jax.jit(program.function)
    return {"jax_ms": seconds_of(lambda: function(*arguments), jax.block_until_ready, runs) * 1e3}


def heddle(program, numbers, folder, runs):
    file, given, made = (Path(folder) / name for name in ("program.mlir", "in.safetensors", "out.safetensors"))
    file.write_text(program.text(), encoding="utf-8")
    write_tensors(given, {f"in.{i}": array for i, array in enumerate(numbers)})
    made.unlink(missing_ok=True)
    done = subprocess.run([str(TOOL), str(file), "--runs", str(runs), "--input", str(given), "--output", str(made)],
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        return {"error": done.stderr.strip()[:200]}
    return json.loads(done.stdout)


def check(program, leaves, folder):
    """How far Heddle's results are from those in float64, in what their types allow; at most 1."""
    wanted = peers.function_of(program.name)(*peers.nested(program.arguments, leaves), torch.float64)
    wanted = jax.tree.leaves(wanted)
    made = read_tensors(Path(folder) / "out.safetensors")
    if len(made) != len(wanted):
        raise ValueError(f"{len(made)} results, not {len(wanted)}")
    def off(i, result):
        array = made[f"out.{i}"]
        return furthest(peers.to_torch(array).double(), result.double(), str(array.dtype))
    return max(off(i, result) for i, result in enumerate(wanted))


def attempt(row, what, call):
    """What it gives goes into the row; where it fails, why."""
    try:
        row.update(call())
    except Exception as error:  # a peer that fails must not end the table
        row[f"{what}_error"] = f"{type(error).__name__}: {error}"[:200]
    jax.clear_caches()
    torch.cuda.empty_cache()


def compile_for_torch(chosen, autotune):
    """All at the same time: what they find is on disk when it is asked for."""
    dealt = [[p.name for p in chosen[i::COMPILERS]] for i in range(COMPILERS)]
    command = [sys.executable, str(Path(__file__).parent / "peers.py")] + ["--autotune"] * autotune
    started = [subprocess.Popen(command + names, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
               for names in dealt if names]
    until = time.monotonic() + COMPILE_SECONDS
    for process in started:
        try:
            _, errors = process.communicate(timeout=max(until - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
            errors += f" took more than {COMPILE_SECONDS} s"
        if process.returncode != 0:
            print("torch:", errors.strip()[-300:], file=sys.stderr)


def measured(program, rate, folder, options):
    generator = np.random.default_rng(1)
    numbers = [a.numbers(generator, MOST) for a in program.leaves()]
    row = {"name": program.name, "bytes": program.bytes, "floor_ms": program.bytes / rate * 1e3}
    leaves = [peers.filled(a, given) for a, given in zip(program.leaves(), numbers)]
    attempt(row, "heddle", lambda: heddle(program, numbers, folder, options.runs))
    if "ms" in row:
        attempt(row, "check", lambda: {"off": check(program, leaves, folder)})
    if not options.alone:
        attempt(row, "torch", lambda: torch_times(program, leaves, options.runs, options.autotune))
    del leaves
    if not options.alone:
        attempt(row, "jax", lambda: jax_times(program, numbers, options.runs))
    row["best_ms"] = min((row[k] for k in ("torch_ms", "torch_graph_ms", "jax_ms") if k in row), default=math.nan)
    return row


def told(row):
    def time_of(key):
        return f"{row[key]:8.3f} {row['floor_ms'] / row[key]:5.2f}" if key in row else f"{'-':>14}"
    line = f"{row['name']:30} {row['floor_ms']:7.3f} {time_of('torch_ms')} {time_of('torch_graph_ms')}"
    line += f" {time_of('jax_ms')} {time_of('ms')}"
    if "ms" in row:
        line += f" {row['best_ms'] / row['ms']:6.2f}  {row['steps']}, {row['compile_s']:.1f} s, host {row['host_ms']:.3f}"
        line += f", off {row['off']:.2f}" if "off" in row else ""
    if row.get("off", 0) > 1:
        line += " WRONG"
    return line + "".join(f"\n  {key}: {value}" for key, value in row.items() if "error" in key)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only programs whose names have one of these")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--alone", action="store_true", help="without the times of torch and JAX")
    parser.add_argument("--autotune", action="store_true", help="torch's mode max-autotune")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = [p for p in programs.PROGRAMS
              if not options.names or any(name in p.name for name in options.names)]
    begin = time.perf_counter()
    if not options.alone:
        compile_for_torch(chosen, options.autotune)
        print(f"torch compiled for {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    rate = copy_rate()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}{' max-autotune' * options.autotune},"
          f" JAX {jax.__version__}; a copy moves {rate / 1e12:.2f} TB/s; ms and share of the floor; L2 not flushed")
    print(f"{'program':30} {'floor':>7} {'torch.compile':>14} {'its graph':>14} {'JAX':>14} {'Heddle':>14}"
          f" {'x best':>6}  steps, compiled in, of the host, off by")
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for program in chosen:
            rows.append(measured(program, rate, folder, options))
            print(told(rows[-1]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    good = [row for row in rows if "ms" in row]
    shares = {key: mean([r["floor_ms"] / r[key] for r in good if key in r])
              for key in ("torch_ms", "torch_graph_ms", "jax_ms", "best_ms", "ms")}
    print("geomeans of the share: torch {torch_ms:.2f}, its graph {torch_graph_ms:.2f}, JAX {jax_ms:.2f},"
          " best {best_ms:.2f}, Heddle {ms:.2f}".format(**shares))
    if good:
        worst = min(good, key=lambda r: r["best_ms"] / r["ms"])
        print(f"x best: geomean {mean([r['best_ms'] / r['ms'] for r in good]):.2f}, worst"
              f" {worst['best_ms'] / worst['ms']:.2f} ({worst['name']}); {time.perf_counter() - begin:.0f} s in all")
    return 1 if any(row.get("off", 0) > 1 or "check_error" in row or "error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
