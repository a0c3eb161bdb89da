"""How windows run: call by call while they are new, compiled once they come again, beside other threads."""

import os
import subprocess
import sys
import threading
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded

LARGE = 20_000


@pytest.fixture(autouse=True)
def usual():
    hn.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hn.FallbackWarning)
        yield


def since(before):
    return {key: value - before[key] for key, value in hn.counts().items()}


def test_what_comes_once_is_not_compiled():
    x = hn.arange(float(LARGE))
    hn.flush()
    before = hn.counts()
    for size in range(1, 30):  # another shape in every turn
        x[size:] += x[:-size] * 1.25
        assert np.isfinite(float(x[-1:].sum()))
    recorded.wait_for_code()
    counts = since(before)
    assert counts["direct"] == 29 and counts["compiled"] == counts["found"] == 0


def test_what_comes_again_is_compiled_beside_it():
    before = hn.counts()
    x, expected = hn.ones(LARGE) * 3, np.ones(LARGE) * 3
    for turn in range(12):
        x = hn.sqrt(x * 1.75 + turn)
        expected = np.sqrt(expected * 1.75 + turn)
        assert float(x.sum()) == pytest.approx(expected.sum())
        recorded.wait_for_code()
    counts = since(before)
    assert counts["direct"] >= 2 and counts["found"] >= 5 and counts["compiled"] == 0


def test_memory_that_others_hold_is_not_written():
    recorded.set_direct("always")
    try:
        x = hn.arange(float(LARGE))
        seen = np.asarray(x)
        x[:] += 1
        x[::2] = 5
        assert x.sum() == np.where(np.arange(LARGE) % 2, np.arange(1.0, LARGE + 1), 5).sum()
        assert (seen == np.arange(LARGE)).all()
    finally:
        recorded.set_direct("")


def test_threads():
    results = {}

    def work(number):
        u = hn.zeros((120, 120))
        u[0] = number
        for _ in range(30):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
            results[number] = float(u.sum())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work(10)
    for number in range(1, 5):
        assert results[number] == pytest.approx(results[10] * number / 10)


def test_a_process_may_end_while_code_is_made():
    text = ("import heddle.numpy as np\nx = np.ones(20000)\n"
            "for i in range(6):\n    x = np.sin(x) * 2 + np.exp(-x)\n    float(x.sum())\nprint('over')")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "over\n" and done.stderr == ""


def test_explain_names_what_ran_call_by_call():
    x = hn.arange(float(LARGE))[: LARGE - 123] * 1.5
    float(x.sum())
    assert "call by call" in hn.explain()


def test_explain_and_profile_name_lines():
    x = hn.ones(LARGE) * 2
    hn.flush()
    recorded.set_direct("never")
    try:
        with hn.profile() as times:
            y = hn.sqrt(x) + 1
            hn.flush()
    finally:
        recorded.set_direct("")
    line = test_explain_and_profile_name_lines.__code__.co_firstlineno + 6
    assert f"test_arrays_windows.py:{line}" in hn.explain() and f"from test_arrays_windows.py:{line}" in str(times)
    assert y.sum() == pytest.approx(LARGE * (2**0.5 + 1))


def squares_and_sums(np, a, b):
    products = [(a * (k + 1)) @ b for k in range(4)]
    total = a * 0.0
    for one in products:
        total = total + np.exp(one * 0.001) @ one
    return total, np.cumsum(total, axis=1).sum(axis=0), (total > 0).sum()


@pytest.mark.parametrize("devices", (1, 2))
def test_a_window_over_the_limit_runs_in_pieces(all_recorded, devices):
    a, b = np.random.default_rng(0).standard_normal((2, 64, 64))
    before = recorded.memory_limit()
    recorded.set_devices(devices, 0)
    recorded.set_direct("never")
    try:
        for limit, least in ((before, 0), (300_000, 1), (100_000, 2)):
            recorded.set_memory_limit(limit)
            cuts = hn.counts()["pieces"]
            got = squares_and_sums(hn, hn.asarray(a), hn.asarray(b))
            hn.flush()
            assert (hn.counts()["pieces"] - cuts >= least) if least else (hn.counts()["pieces"] == cuts)
            if limit == 300_000:
                assert "for want of memory" in hn.explain()
            for ours, theirs in zip(got, squares_and_sums(np, a, b)):
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-10)
    finally:
        recorded.set_memory_limit(before)
        recorded.set_devices(1)
        recorded.set_direct("")


def sums_of_plain_calls(np, a, b):
    c = a * 2.0 + b
    rows = c.sum(axis=1)
    d = np.sqrt(c * c + 1.0) - b
    return rows, d, d.max(axis=0)


def test_a_known_window_of_plain_calls_over_the_limit_runs_in_pieces(all_recorded):
    a, b = np.random.default_rng(1).standard_normal((2, 96, 96))
    before = recorded.memory_limit()
    recorded.set_direct("never")
    try:
        for turn in range(6):
            known, cuts = hn.counts()["found"], hn.counts()["pieces"]
            recorded.set_memory_limit(before)
            got = sums_of_plain_calls(hn, hn.asarray(a), hn.asarray(b))
            recorded.set_memory_limit(before if turn < 3 else 100_000)
            hn.flush()
            assert hn.counts()["found"] - known == (turn > 0)
            assert (hn.counts()["pieces"] > cuts) == (turn >= 3)
            for ours, theirs in zip(got, sums_of_plain_calls(np, a, b)):
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12)
    finally:
        recorded.set_memory_limit(before)
        recorded.set_direct("")


def test_a_limit_that_is_none():
    done = subprocess.run([sys.executable, "-c", "import heddle.numpy as np; np.ones(3) + 1"], text=True,
                          capture_output=True, env={**os.environ, "HEDDLE_MEMORY": "much"})  # fmt: skip
    assert "HEDDLE_MEMORY=much: an amount of memory is expected" in done.stderr


FORKS = """
import multiprocessing, os, sys
import heddle.numpy as hn
from heddle.numpy._core import recorded

def total(x, by):
    return float((x * by + 1).sum())

x = hn.ones({size})
for turn in range(5):
    total(x, turn)
    recorded.wait_for_code()
assert hn.counts()["found"] > 0  # threads have compiled, and run
hn.devices({devices})
total(x, 2.0)
open_window = x * 4.0
child = os.fork()
if child == 0:
    good = [total(x, turn) == {size} * (turn + 1) for turn in range(4)]
    recorded.wait_for_code()
    new = float((x - 3.0).max()) == -2.0 and float(open_window.sum()) == 4 * {size}
    sys.exit(0 if all(good) and new else 1)
_, status = os.waitpid(child, 0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    sums = pool.starmap(total, [(x, turn) for turn in range(3)])
print(os.waitstatus_to_exitcode(status), sums, float(open_window.sum()))
"""


@pytest.mark.parametrize("devices", [1, 3])
def test_a_forked_child_computes_and_ends(devices):
    text = FORKS.format(size=100_000, devices=devices)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.stdout == "0 [100000.0, 200000.0, 300000.0] 400000.0\n", done.stderr
