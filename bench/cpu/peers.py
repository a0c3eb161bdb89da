"""The libraries to compare with. A peer prepares a case: it compiles, and gives a call and its
results. What it cannot run it refuses with `Refused`."""
import logging
import os
import time

import numpy as np

import clock
from space import jax_space, numpy_space, torch_space


class Refused(Exception):
    pass


class Prepared:
    def __init__(self, call, to_numpy, compile_seconds=None):
        self.call, self.compile_seconds = call, compile_seconds
        self._to_numpy, self.times = to_numpy, []

    def results(self):
        results = self.call()
        results = results if isinstance(results, (tuple, list)) else [results]
        return [self._to_numpy(r) for r in results]

    def measure(self, seconds):
        self.times += clock.call_times(self.call, seconds)

    def median(self):
        return float(np.median(self.times))


def only_text(case):
    return Refused(f"{case.name} is StableHLO text, which only JAX runs")


class NumPy:
    name = "numpy"

    def __init__(self):
        self.space = numpy_space()
        self.version = np.__version__

    def prepare(self, case):
        if case.program is None or case.program.for_jax:
            raise only_text(case)
        inputs = case.inputs()
        return Prepared(lambda: case.program.function(self.space, *inputs), np.asarray)


class Jax:
    name = "jax"

    def __init__(self):
        import jax

        self.jax, self.space, self.version = jax, jax_space(), jax.__version__
        jax.block_until_ready(jax.jit(lambda x: x + 1)(np.ones(8, np.float32)))

    def prepare(self, case):
        # Programs of our own are float32 throughout; recorded ones may hold 64 bits.
        self.jax.config.update("jax_enable_x64", case.program is None)
        inputs = [self.jax.device_put(a) for a in case.inputs()]
        if case.program is None:
            return self._prepare_text(case, inputs)
        space, function = self.space, case.program.function
        jitted = self.jax.jit(lambda *arrays: function(space, *arrays))
        # From StableHLO to something that runs: what Heddle's compile time covers as well.
        lowered = jitted.lower(*inputs)
        start = time.perf_counter()
        lowered.compile()
        seconds = time.perf_counter() - start
        return Prepared(lambda: self.jax.block_until_ready(jitted(*inputs)), np.asarray, seconds)

    def _prepare_text(self, case, inputs):
        from jax.extend import backend

        cpu = backend.get_backend("cpu")
        text = case.text.read_text()
        start = time.perf_counter()
        try:
            executable = cpu.compile_and_load(text, cpu.devices()[:1])
        except Exception as error:  # jaxlib's own types differ between versions
            raise Refused(f"JAX cannot compile it alone: {first_line(error)}") from error
        seconds = time.perf_counter() - start
        call = lambda: self.jax.block_until_ready(executable.execute(inputs))
        return Prepared(call, np.asarray, seconds)


class Torch:
    name = "torch"

    def __init__(self, cache):
        # An empty folder, so that compile times are cold.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
        import torch

        logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # "no CUDA"
        self.torch, self.space, self.version = torch, torch_space(), torch.__version__
        torch.set_num_threads(clock.CORES)
        torch.set_grad_enabled(False)
        torch.compile(lambda x: x + 1)(torch.ones(8))

    def prepare(self, case):
        if case.program is None or case.program.for_jax:
            raise only_text(case)
        torch, space, function = self.torch, self.space, case.program.function
        inputs = [torch.from_numpy(a) for a in case.inputs()]
        torch._dynamo.reset()
        compiled = torch.compile(lambda *arrays: function(space, *arrays), dynamic=False)
        start = time.perf_counter()
        try:
            compiled(*inputs)
        except Exception as error:
            raise Refused(f"torch.compile: {first_line(error)}") from error
        seconds = time.perf_counter() - start
        return Prepared(lambda: compiled(*inputs), lambda r: r.numpy(), seconds)


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0][:160]
