"""Memory that NumPy and others share with an array, flags, and too little of it: as NumPy has them."""

import ctypes
import io
import subprocess
import sys

import heddle.numpy as hn
import numpy as np
import pytest

LARGE = 20_000  # recorded


@pytest.fixture(params=[6, LARGE])
def size(request):
    return request.param


def both(size):
    """The same program on NumPy's arrays and on ours."""
    return [(module, module.arange(float(size))) for module in (np, hn)]


def same(values):
    theirs, ours = values
    assert [np.asarray(one).tolist() for one in theirs] == [np.asarray(one).tolist() for one in ours]


def test_a_view_in_another_type_is_the_same_memory(size):
    results = []
    for module, a in both(size):
        a = a * 2  # recorded, where it is large
        b = a.view(np.int64)
        b[0] = 7
        a[1] = -1.0
        a += 1
        half = a[1:4].view(np.int32)[::2]
        half[1] = 3
        total = b + a[:1].view("i8")
        a[2] = 5
        results.append((a, b, half, total, (a * 2).sum()))
    same(results)


def test_dlpack_copies_or_shares(size):
    theirs = np.arange(float(size))
    copied, shared = hn.from_dlpack(theirs), hn.from_dlpack(theirs, copy=False)
    theirs[0] = 5
    assert float(copied[0]) == 0 and float(shared[0]) == 5
    shared[1] = 7
    shared += 1
    assert theirs[:2].tolist() == [6, 8]
    ours = hn.arange(float(size)) * 2
    back = np.from_dlpack(ours)
    back[0] = 9
    assert float(ours[0]) == 0
    with pytest.raises(ValueError, match="device"):
        hn.from_dlpack(theirs, device="moon")


def test_masked_copies(size):
    results = []
    for module, a in both(size):
        a = a * 2
        module.copyto(a, a[::-1], where=a > 5)
        module.copyto(a, module.ones(1), where=a[::-1] > 3)
        module.putmask(a, a > 4, a * 3)
        module.putmask(a, a < 1, 0.5)
        module.putmask(a, a < 2, [1.0, 2.0])  # from the front, again and again
        with pytest.raises(ValueError):
            module.copyto(a, module.ones(3), where=a > 5)
        b = module.asarray(a).astype(np.int32)
        module.putmask(b, b > 1, 2.5)
        with pytest.raises(TypeError, match="Cannot cast"):
            module.putmask(b, b > 1, a)
        results.append((a, b))
    same(results)


def test_strided_views_write_into_the_array(size):
    results = []
    for module, a in both(size):
        every = module.lib.stride_tricks.as_strided(a, (3,), (16,))
        windows = module.lib.stride_tricks.as_strided(a, (3, 2), (8, 8))
        every[1] = 9
        windows[0, 1] = 4
        a[0] = 5
        a *= 2
        fixed = module.lib.stride_tricks.as_strided(a, (2,), (8,), writeable=False)
        with pytest.raises(ValueError, match="read-only"):
            fixed[0] = 1
        results.append((a, every, windows, fixed))
    same(results)


def test_iterators_that_write(size):
    results = []
    for module, a in both(size):
        b = module.zeros(size)
        with module.nditer([a, b], op_flags=[["readonly"], ["writeonly"]]) as turns:
            for x, y in turns:
                y[...] = 2 * x
        with module.nditer(a[:3], op_flags=["readwrite"]) as turns:
            for x in turns:
                x[...] = -x
        results.append((a, b, a + b))
    same(results)


@pytest.mark.parametrize("write", [
    lambda module, a: a.__iadd__(1), lambda module, a: a.__setitem__(slice(None), 1),
    lambda module, a: a.__setitem__(2, 1), lambda module, a: module.add(a, 1, out=a), lambda module, a: a.sort(),
    lambda module, a: a[1:].__setitem__(0, 1), lambda module, a: a.reshape(2, -1).__iadd__(1),
    lambda module, a: a.fill(2), lambda module, a: module.copyto(a, 1.0), lambda module, a: a.flat.__setitem__(0, 1),
])  # fmt: skip
def test_what_is_not_to_be_written_to_is_not(size, write):
    for module, a in both(size):
        a.setflags(write=False)
        assert not a.flags.writeable and not a.flags["WRITEABLE"] and not a[1:].flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            write(module, a)
        a.flags.writeable = True
        a[0] = 3
        assert a[0] == 3 and a.flags.writeable


def test_buffers_and_pointers(size):
    a = hn.arange(float(size)) + 1
    assert memoryview(a)[2] == 3 and bytes(a[:2]) == np.array([1.0, 2.0]).tobytes()
    with pytest.raises(TypeError, match="read-only"):
        memoryview(a)[2] = 1
    shown = np.asarray(a)
    a[0] = 100  # does not reach what has been given out
    assert shown[0] == 1 and memoryview(shown).readonly
    pointer = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    pointer[1] = 50
    assert a.ctypes.shape[0] == size and a[:2].tolist() == [100, 50] and (a * 2)[1] == 100
    io.BytesIO(np.array([7.0]).tobytes()).readinto(a[3:4])
    assert a[3] == 7
    fixed = hn.arange(4.0)
    fixed.flags.writeable = False
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(bytes(8)).readinto(fixed)


def test_nothing_is_left_when_python_ends():
    text = f"import heddle.numpy as np; a = np.arange({LARGE}.0) * 2; b = a.view(np.int64); b[0] = 1; c = a[1:].ctypes"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""


def test_views_have_a_base():
    a = hn.arange(12.0)
    assert a.base is None and (a + 1).base is None
    for part in (a[1:], a[1:][2:], a.reshape(3, 4).T, a[::-1]):
        assert part.base is not None and hn.shares_memory(part.base, a)


def test_too_large_arrays_are_numpys_error():
    for make in (
        lambda m: m.ones((10**7, 10**8)),
        lambda m: m.full(10**15, 2.0),
        lambda m: m.ones((1, 10**7)) + m.ones((10**7, 1)),
        lambda m: m.zeros(10**15),
    ):
        said = []
        for module in (np, hn):
            with pytest.raises(MemoryError) as error:
                float(make(module)[0, 0])
            said.append(str(error.value))
        assert said[0] == said[1]


SHORT_OF_MEMORY = """
import resource
import heddle.numpy as np
from heddle.numpy._core import recorded

recorded.set_direct("{direct}")
size = 1_000_000
old = np.full(size, 3.0)
float((old * 2).sum())
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
x = np.ones(size)
x += 1
old += 1
results = [x * k for k in range(60)]
assert float(x[7]) == 2 and float(old[7]) == 4
lost = []
for k, result in enumerate(results):
    try:
        assert float(result[7]) == 2 * k
    except MemoryError as error:
        assert str(error).startswith("Unable to allocate 7.63 MiB for an array with shape (1000000,)"), error
        lost.append(k)
assert 0 < len(lost) < 60, lost
del results, result
assert float((x + old).sum()) == 6 * size
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory as on Linux")
@pytest.mark.parametrize("direct", ["", "never", "always"])
def test_too_little_memory_for_a_window_loses_no_more_than_it_must(direct):
    text = SHORT_OF_MEMORY.format(direct=direct)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_devices_are_whole_numbers():
    for wrong in ("x", 1.5, True):
        with pytest.raises(TypeError, match="a number of devices is a whole number"):
            hn.devices(wrong)


def test_numpys_results_lie_as_kernels_want_them():
    """So that windows do not copy them; each is written, resized and let go of."""
    from heddle.numpy._core import call_aligned

    for size in (1, 100, 8000, 8192, 300_000):
        made = call_aligned(np.repeat, np.arange(2.0), size)
        zeros = call_aligned(np.zeros, 2 * size)
        assert made.ctypes.data % 64 == 0 and zeros.ctypes.data % 64 == 0 and not zeros.any()
        np.testing.assert_array_equal(made, np.repeat(np.arange(2.0), size))
        for array in (made, zeros):
            for other in (5 * size, size // 2 + 1, 40_000):
                before = array[: min(other, array.size)].copy()
                array.resize(other, refcheck=False)
                assert array.ctypes.data % 64 == 0
                np.testing.assert_array_equal(array[: before.size], before)
    assert np.empty(1000).ctypes.data % 8 == 0  # its own way again
    with pytest.raises(MemoryError):
        call_aligned(np.zeros, 2**50)


NO_ROOM_FOR_A_THREAD = """
import resource
import heddle.numpy as np

x = np.arange(20_000.0)
float((x * 2).sum())
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 5_000_000, resource.RLIM_INFINITY))
for turn in range(40):
    y = np.sqrt(x * turn + 1) - x
    y = y * y + turn
    assert abs(float(y[1]) - (((turn + 1) ** 0.5 - 1) ** 2 + turn)) < 1e-9
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
assert float((x + x)[3]) == 6
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory as on Linux")
def test_no_room_for_the_compiler_s_thread():
    done = subprocess.run(
        [sys.executable, "-c", NO_ROOM_FOR_A_THREAD], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
