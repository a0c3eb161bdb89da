#!/usr/bin/env python3
"""What bench/cpu says of right and wrong results, and its last line. No library is measured."""
import json
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/cpu"))
import report
import tensors
from cases import Case, kind_of
from programs import CALL, MATRIX, MEMORY, PROGRAMS, TINY


def case(program=None, **more):
    text, io = Path("some.mlir"), Path("some.safetensors")
    return Case("some", text, io, MEMORY, 8, program=program, **more)


def check_results():
    one = np.ones(1000, np.float32)
    assert case().complaint([one], [one]) == ""
    assert case().complaint([one + np.float32(1e-3)], [one]).startswith("result 0: 1000 of 1000")
    assert case(rtol=0, atol=1e-2).complaint([one + np.float32(1e-3)], [one]) == ""
    assert case().complaint([], [one]) == "0 results instead of 1"
    assert "float64[1000]" in case().complaint([one.astype(np.float64)], [one])
    nan = np.full(3, np.nan, np.float32)
    assert case().complaint([nan], [nan]) == ""
    assert case().complaint([nan], [np.zeros(3, np.float32)]) != ""
    # Small results are not right because they are small.
    assert case().complaint([np.zeros(9, np.float32)], [np.full(9, 1e-6, np.float32)]) != ""


def check_integers():
    quantises = next(p for p in PROGRAMS if p.quantises)
    numbers = np.arange(2000, dtype=np.int32)
    one_off, far_off = numbers.copy(), numbers.copy()
    one_off[7] += 1
    far_off[7] += 2
    assert case().complaint([one_off], [numbers]) != ""
    assert case(quantises).complaint([one_off], [numbers]) == ""
    assert case(quantises).complaint([far_off], [numbers]) != ""
    assert case(quantises).complaint([numbers + np.int32(1)], [numbers]) != ""


def check_files():
    arrays = {
        "in.0": np.arange(6, dtype=np.float32).reshape(2, 3),
        "in.1": np.array(True),
        "in.2": np.zeros((0, 4), np.int8),
        "out.0": np.array([[1], [2]], np.int64).T,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.safetensors"
        tensors.write(path, arrays)
        back = tensors.read(path)
        assert tensors.size(path) == sum(a.nbytes for a in arrays.values())
    assert list(back) == list(arrays)
    for name, a in arrays.items():
        assert back[name].dtype == a.dtype and np.array_equal(back[name], a), name
    assert len(tensors.numbered(back, "in")) == 3


def check_kinds():
    product = "%0 = stablehlo.dot_general %a, %b"
    assert kind_of(product, 64 * 1024) == TINY
    assert kind_of(product, 64 * 1024 + 1) == MATRIX
    assert kind_of("stablehlo.add", 1 << 20) == TINY
    assert kind_of("stablehlo.add", (1 << 20) + 1) == MEMORY


def row(kind, heddle, jax, **more):
    return {"name": "x", "kind": kind, "heddle": heddle, "jax": jax, "notes": [], **more}


def check_figures():
    rows = [
        row(MEMORY, 1.0, 4.0, torch=2.0, share=0.5, heddle_compile=1.0, jax_compile=2.0),
        row(MEMORY, 1.0, 8.0, share=0.125, heddle_compile=3.0, jax_compile=2.0),
        row(MATRIX, 2.0, 1.0, heddle_compile=1.0, jax_compile=4.0),
        row(TINY, 1.0, 3.0, numpy=0.5),
        row(CALL, 2.0, 5.0),
    ]
    assert json.loads(report.figures(rows)) == {
        "geomean_vs_best": 4.0,
        "share": 0.25,
        "worst": 2.0,
        "matrix": 0.5,
        "tiny": 3.0,
        "calls": 2.5,
        "compile_vs_jax": 0.5,
    }
    rows.append(row(MEMORY, 0.1, 9.0, share=1.0, failure="wrong results"))
    figures = json.loads(report.figures(rows))
    assert figures["worst"] == 0 and figures["geomean_vs_best"] == 4.0
    assert "1 of 6 programs failed: x" in report.summary(rows)


for check in (check_results, check_integers, check_files, check_kinds, check_figures):
    check()
print("bench_cpu: comparisons, files and figures are as documented")
