#!/usr/bin/env python3
"""How compile time grows with a program: chains of ops, and transformer layers that repeat.

    bench/compile/scaling.py build/release/heddle [FILE.mlir ...]

Compiles every program cold (a fresh cache directory), and prints a table: milliseconds of each
stage, and microseconds per op. The last line is JSON.
"""

import json
import os
import subprocess
import sys
import tempfile


class Text:
    """A StableHLO function that is written op by op."""

    def __init__(self):
        self.lines, self.count, self.args = [], 0, []

    def arg(self, shape):
        self.args.append((f"%arg{len(self.args)}", shape))
        return self.args[-1]

    def put(self, line, shape):
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {line}")
        return name, shape

    def op(self, name, *values):
        shape = values[0][1]
        return self.put(f"stablehlo.{name} {', '.join(v for v, _ in values)} : {tensor(shape)}", shape)

    def constant(self, number, shape=()):
        return self.put(f"stablehlo.constant dense<{number}> : {tensor(shape)}", shape)

    def broadcast(self, value, dims, shape):
        return self.put(
            f"stablehlo.broadcast_in_dim {value[0]}, dims = {list(dims)} : "
            f"({tensor(value[1])}) -> {tensor(shape)}", shape)

    def reduce(self, value, how, zero, dims):
        shape = tuple(n for d, n in enumerate(value[1]) if d not in dims)
        return self.put(
            f"stablehlo.reduce({value[0]} init: {zero[0]}) applies stablehlo.{how} across "
            f"dimensions = {list(dims)} : ({tensor(value[1])}, tensor<f32>) -> {tensor(shape)}", shape)

    def dot(self, a, b, contract, batch=((), ())):
        kept_a = [n for d, n in enumerate(a[1]) if d not in contract[0] and d not in batch[0]]
        kept_b = [n for d, n in enumerate(b[1]) if d not in contract[1] and d not in batch[1]]
        shape = tuple([a[1][d] for d in batch[0]] + kept_a + kept_b)
        batching = f"batching_dims = {list(batch[0])} x {list(batch[1])}, " if batch[0] else ""
        return self.put(
            f"stablehlo.dot_general {a[0]}, {b[0]}, {batching}contracting_dims = "
            f"{list(contract[0])} x {list(contract[1])} : ({tensor(a[1])}, {tensor(b[1])}) -> "
            f"{tensor(shape)}", shape)

    def reshape(self, value, shape):
        return self.put(f"stablehlo.reshape {value[0]} : ({tensor(value[1])}) -> {tensor(shape)}", shape)

    def transpose(self, value, dims):
        shape = tuple(value[1][d] for d in dims)
        return self.put(
            f"stablehlo.transpose {value[0]}, dims = {list(dims)} : ({tensor(value[1])}) -> "
            f"{tensor(shape)}", shape)

    def text(self, result):
        args = ", ".join(f"{name}: {tensor(shape)}" for name, shape in self.args)
        body = "\n".join(self.lines)
        return (f"func.func @main({args}) -> {tensor(result[1])} {{\n{body}\n"
                f"  return {result[0]} : {tensor(result[1])}\n}}\n")


def tensor(shape):
    return f"tensor<{'x'.join([str(n) for n in shape] + ['f32'])}>"


def chain(ops):
    t = Text()
    x, y = t.arg((1024, 64)), t.arg((1024, 64))
    value = x
    for i in range(ops):
        name = ("add", "multiply", "subtract", "maximum")[i % 4]
        value = t.op("tanh", value) if i % 16 == 15 else t.op(name, value, y)
    return t.text(value)


def layer_norm(t, x, gain, bias):
    rows, width = x[1]
    zero, count = t.constant("0.0"), t.constant(f"{float(width)}")
    mean = t.op("divide", t.reduce(x, "add", zero, (1,)), t.broadcast(count, (), (rows,)))
    centred = t.op("subtract", x, t.broadcast(mean, (0,), (rows, width)))
    square = t.reduce(t.op("multiply", centred, centred), "add", zero, (1,))
    small = t.broadcast(t.constant("1.0e-5"), (), (rows,))
    scale = t.op("rsqrt", t.op("add", t.op("divide", square, t.broadcast(count, (), (rows,))), small))
    normal = t.op("multiply", centred, t.broadcast(scale, (0,), (rows, width)))
    scaled = t.op("multiply", normal, t.broadcast(gain, (1,), (rows, width)))
    return t.op("add", scaled, t.broadcast(bias, (1,), (rows, width)))


def softmax(t, x):
    *rest, width = x[1]
    dims = tuple(range(len(rest)))
    low, zero = t.constant("0xFF800000"), t.constant("0.0")
    top = t.reduce(x, "maximum", low, (len(rest),))
    power = t.op("exponential", t.op("subtract", x, t.broadcast(top, dims, x[1])))
    total = t.reduce(power, "add", zero, (len(rest),))
    return t.op("divide", power, t.broadcast(total, dims, x[1]))


def gelu(t, x):
    def number(c):
        return t.broadcast(t.constant(c), (), x[1])
    cube = t.op("multiply", t.op("multiply", x, x), x)
    inner = t.op("multiply", number("0.7978846"),
                 t.op("add", x, t.op("multiply", number("0.044715"), cube)))
    return t.op("multiply", t.op("multiply", number("0.5"), x),
                t.op("add", number("1.0"), t.op("tanh", inner)))


def layers(count, rows=128, width=128, heads=4):
    t = Text()
    x = t.arg((rows, width))
    size = width // heads
    for _ in range(count):
        normal = layer_norm(t, x, t.arg((width,)), t.arg((width,)))
        q, k, v = (t.transpose(t.reshape(t.dot(normal, t.arg((width, width)), ((1,), (0,))),
                                         (rows, heads, size)), (1, 0, 2)) for _ in range(3))
        scores = t.dot(q, k, ((2,), (2,)), ((0,), (0,)))
        scores = t.op("multiply", scores, t.broadcast(t.constant("0.17"), (), scores[1]))
        mixed = t.dot(softmax(t, scores), v, ((2,), (1,)), ((0,), (0,)))
        mixed = t.reshape(t.transpose(mixed, (1, 0, 2)), (rows, width))
        x = t.op("add", x, t.dot(mixed, t.arg((width, width)), ((1,), (0,))))
        normal = layer_norm(t, x, t.arg((width,)), t.arg((width,)))
        up = t.dot(normal, t.arg((width, 4 * width)), ((1,), (0,)))
        up = gelu(t, t.op("add", up, t.broadcast(t.arg((4 * width,)), (1,), up[1])))
        x = t.op("add", x, t.dot(up, t.arg((4 * width, width)), ((1,), (0,))))
    return t.text(x)


STAGES = ("read", "verify", "inline", "lower", "simplify", "stitch", "kernels", "code", "memory")


def measure(tool, file, turns=3):
    """The fastest of a few cold compilations."""
    best = None
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as cache:
            out = subprocess.run([tool, "compile", file, "--json"], check=True,
                                 capture_output=True, env={**os.environ, "HEDDLE_CACHE_DIR": cache})
        report = json.loads(out.stdout)
        if best is None or report["compile_ms"] < best["compile_ms"]:
            best = report
        if report["compile_ms"] > 20_000:
            break
    best["stages_ms"]["read"] = best["read_ms"]
    return best


def row(name, r):
    stages = "".join(f"{r['stages_ms'].get(s, 0):>9.1f}" for s in STAGES)
    total = r["compile_ms"] + r["read_ms"]
    return (f"{name:<24}{r['ops']:>7}{r['kernels']:>8}{r['distinct_kernels']:>9}{stages}"
            f"{total:>9.0f}{1e3 * total / max(r['ops'], 1):>8.0f}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool, files = sys.argv[1], sys.argv[2:]
    print(f"{'program':<24}{'ops':>7}{'kernels':>8}{'distinct':>9}"
          + "".join(f"{s:>9}" for s in STAGES) + f"{'all ms':>9}{'us/op':>8}", flush=True)
    summary = {}
    with tempfile.TemporaryDirectory() as folder:
        made = [(f"chain of {n}", chain(n)) for n in (100, 1000, 10000)]
        made += [(f"{n} layers", layers(n)) for n in (1, 2, 6, 12, 24, 48)]
        jobs = []
        for name, text in made:
            path = os.path.join(folder, name.replace(" ", "_") + ".mlir")
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            jobs.append((name, path))
        jobs += [(os.path.basename(f).removesuffix(".mlir"), f) for f in files]
        for name, path in jobs:
            report = measure(tool, path)
            print(row(name, report), flush=True)
            summary[name] = {"ops": report["ops"], "distinct": report["distinct_kernels"],
                             "us_per_op": round(1e3 * (report["compile_ms"] + report["read_ms"])
                                                / max(report["ops"], 1), 1)}
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
