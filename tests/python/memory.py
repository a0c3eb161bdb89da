"""Whether work leaves memory behind."""

import ctypes
import gc
import os

ROUNDS = 3


def resident():
    """Bytes in memory, but for what glibc keeps to give out again."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def assert_flat(work, most):
    """Work, done once more, adds less than `most` bytes. What leaks does so in every round; pages that
    the kernel or malloc give in larger pieces, or a thread that starts late, come once."""
    grown = []
    for _ in range(ROUNDS):
        before = resident()
        work()
        grown.append(resident() - before)
        if grown[-1] < most:
            return
    raise AssertionError(f"each round of work leaves bytes behind: {grown}; at most {most} are due")


KERNELS_KEPT = 500  # by Heddle's cache of kernels

TINY = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
  %n = stablehlo.constant dense<{0}.5> : tensor<3xf32>
  %0 = stablehlo.multiply %x, %n : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""


def fill_cache_of_kernels():
    """What is compiled afterwards takes the place of something. Without JAX, which would take most of the time."""
    from heddle import _core

    for i in range(KERNELS_KEPT):
        _core.compile(_core.read_program(TINY.format(i)))
