"""Times programs on arrays in one framework: a line of JSON for each. run.py starts it, once for each framework.

On a GPU ($HEDDLE_DEVICE names it for all frameworks) calls are started one after the other, and the last is waited for.

python worker.py heddle|numpy|cupynumeric|jax|cupy elementwise 1 1000 … | apps NAME… | solvers N…
"""

import json
import os
import pathlib
import sys
import time

FRAMEWORK, KIND, *REST = sys.argv[1:]
ON_GPU = os.environ.get("HEDDLE_DEVICE", "cpu") != "cpu"
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "diffuse"))


def an_element(values):
    """Of the last array, brought to the host: all work before it is done then."""
    while isinstance(values, (tuple, list)):
        values = values[-1]
    return float(values[(-1,) * values.ndim] if values.ndim else values)


def modules():
    """The array module, the sparse one, and what waits for all work."""
    if FRAMEWORK == "heddle":
        import heddle.numpy as np
        import heddle.sparse as sparse

        return np, sparse, an_element if ON_GPU else lambda values: np.flush()
    if FRAMEWORK == "cupy":
        import cupy as np
        import cupyx.scipy.sparse as sparse

        return np, sparse, an_element
    if FRAMEWORK == "cupynumeric":
        import cupynumeric as np
        from legate.core import get_legate_runtime

        return np, None, lambda values: get_legate_runtime().issue_execution_fence(block=True)
    if FRAMEWORK == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        import jax.numpy as np

        return np, None, jax.block_until_ready
    import numpy as np
    import scipy.sparse as sparse

    return np, sparse, lambda values: None


def begin(values):
    """Starts what was recorded, on a GPU."""
    if FRAMEWORK == "heddle":
        import heddle.numpy as np

        np.flush()


def best(work, wait, least=0.15):
    """Seconds of one call: the best of batches that fill the time. Each is waited for, or begun: equal calls whose results
    nobody looks at would be computed once, or never."""
    wait(work())
    began = time.perf_counter()
    wait(work())
    once = max(time.perf_counter() - began, 1e-7)
    batch = max(1, min(200, int(least / 5 / once)))
    found = []
    for _ in range(7):
        began = time.perf_counter()
        for _ in range(batch - 1):
            (begin if ON_GPU else wait)(work())
        wait(work())
        found.append((time.perf_counter() - began) / batch)
    return min(found)


def say(name, size, seconds, **more):
    print(json.dumps({"framework": FRAMEWORK, "name": name, "size": size, "seconds": seconds, **more}), flush=True)


def elementwise():
    np, _, wait = modules()
    programs = {
        "x + y": (lambda x, y: x + y, 3),
        "chain": (lambda x, y: np.sqrt(x * x + y * y) * 0.5 + np.exp(-x) - y / (x + 1.0), 3),
        "sum of a chain": (lambda x, y: ((x - y) * (x - y) + 0.5 * x * y).sum(), 2),
    }
    if FRAMEWORK == "jax":
        import jax

        programs = {name: (jax.jit(f), arrays) for name, (f, arrays) in programs.items()}
    for size in map(int, REST):
        x, y = np.arange(size) / size + 0.5, 1.5 - np.arange(size) / size
        wait((x, y))
        if ON_GPU:
            wait(x)
        for name, (f, arrays) in programs.items():
            say(name, size, best(lambda: f(x, y), wait), bytes=8 * arrays * size)


def apps():
    from apps import APPS

    np, sparse, wait = modules()
    for name in REST:
        make, _, size = APPS[name]
        try:
            app = make(np, sparse, size)
        except (AttributeError, NotImplementedError, TypeError) as error:  # no sparse matrices there, or other ones
            print(f"{name}: {error}", file=sys.stderr)
            continue

        def turns(count=8):
            seen = []
            for _ in range(count):
                app.turn()
                if name == "Black-Scholes":  # no turn needs the one before, which would not be computed
                    seen.append(app.result())
            return seen, app.result()

        began = time.perf_counter()
        wait(turns())
        first = time.perf_counter() - began
        for _ in range(3):  # windows find their size
            wait(turns())
        found = []
        for _ in range(4):
            began = time.perf_counter()
            wait(turns())
            found.append((time.perf_counter() - began) / 8)
        say(name, size, min(found), first=first / 8)


def solvers():
    """Seconds a turn of cg and bicgstab on the five-point Laplacian, 60 turns; and on one whose coefficients vary."""
    from apps import poisson

    np, sparse, wait = modules()
    import importlib

    linalg = importlib.import_module("heddle.sparse.linalg" if FRAMEWORK == "heddle" else "scipy.sparse.linalg")
    for n in map(int, REST):
        b = np.ones(n * n)
        plain = poisson(np, sparse, n)
        scale = sparse.diags([1.0 + np.arange(n * n) / (n * n)], [0])
        varying = sparse.csr_array(scale @ plain @ scale)
        for name, A in (("cg", plain), ("bicgstab", plain), ("cg, varying", varying), ("bicgstab, varying", varying)):
            solve = getattr(linalg, name.partition(",")[0])
            wait(solve(A, b, rtol=1e-30, maxiter=10)[0])
            found = []
            for _ in range(3):
                began = time.perf_counter()
                wait(solve(A, b, rtol=1e-30, maxiter=60)[0])
                found.append((time.perf_counter() - began) / 60)
            say(name, n, min(found))


{"elementwise": elementwise, "apps": apps, "solvers": solvers}[KIND]()
