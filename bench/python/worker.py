"""One side of the benchmark, in a process of its own: the backend is what JAX_PLATFORMS says. Takes a
request of JSON a line, and answers with one.

    {"prepare": NAME}     compiles and calls once: {"seconds": ..., "sums": [...]}
    {"measure": SECONDS}  of what was prepared: {"times": [...]}, seconds of each call
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cpu"))
import clock  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
from programs import PROGRAMS  # noqa: E402
from space import jax_space  # noqa: E402

CALLS = 1000  # of a tiny function, timed together
DISPATCH, WAIT, TRAINING = "a tiny call", "a tiny call and its result", "GPT, two layers: a training step"


def sums_of(results):
    """What results come to; the other side's have to be about the same."""
    arrays = [np.asarray(r).astype(np.float64) for r in jax.tree.leaves(results)]
    return [float(np.abs(a).sum()) for a in arrays]


class Tiny:
    """Calls of a tiny function by the thousand; waits for each, or only for the last."""

    def __init__(self, waits):
        self.waits, self.x = waits, jax.device_put(np.ones(8, np.float32))
        self.function = jax.jit(lambda x: x + 1)

    def __call__(self):
        function, x = self.function, self.x
        if self.waits:
            for _ in range(CALLS):
                y = function(x).block_until_ready()
        else:
            for _ in range(CALLS):
                y = function(x)
        return y.block_until_ready()

    def times(self, seconds):
        return [t / CALLS for t in clock.call_times(self, seconds)]


class Program:
    def __init__(self, program):
        space = jax_space()
        self.function = jax.jit(lambda *arrays: program.function(space, *arrays))
        self.inputs = [jax.device_put(a) for a in program.inputs()]

    def __call__(self):
        return jax.block_until_ready(self.function(*self.inputs))

    def times(self, seconds):
        return clock.call_times(self, seconds)


class Training:
    def __init__(self):
        import gpt

        self.training = gpt.Training()

    def __call__(self):
        self.training()
        return self.training.losses[-1:]

    def times(self, seconds):
        return clock.call_times(self, seconds)


def work_of(name):
    if name in (DISPATCH, WAIT):
        return Tiny(name == WAIT)
    if name == TRAINING:
        return Training()
    return Program(next(p for p in PROGRAMS if p.name == name))


def prepared(name):
    work = work_of(name)
    start = time.perf_counter()
    results = work()
    return work, {"seconds": time.perf_counter() - start, "sums": sums_of(results)}


def main():
    said, sys.stdout = sys.stdout, sys.stderr  # only answers go out
    version = jax.devices()[0].client.platform_version
    answer = {"jax": jax.__version__, "platform": " ".join(version.split())}
    print(json.dumps(answer), file=said, flush=True)
    work = None
    for line in sys.stdin:
        request = json.loads(line)
        if "prepare" in request:
            work = None  # frees the last one's arrays
            work, answer = prepared(request["prepare"])
        else:
            answer = {"times": work.times(request["measure"])}
        print(json.dumps(answer), file=said, flush=True)


if __name__ == "__main__":
    main()
