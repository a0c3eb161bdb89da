"""Random numbers: NumPy's own with a seed, the same on any number of devices; sorting, searching, transforms."""

import pickle
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded


@pytest.fixture(autouse=True)
def nothing_left_to_numpy(all_recorded):
    with warnings.catch_warnings():
        warnings.simplefilter("error", hn.FallbackWarning)
        yield
    recorded.set_devices(1)
    hn.random.seed()


@pytest.mark.parametrize("bits", ("Philox", "PCG64"))
def test_numbers_of_a_seed_are_numpys(bits):
    ours, theirs = (module.Generator(getattr(np.random, bits)(3)) for module in (hn.random, np.random))
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(ours.random((11, 3))), theirs.random((11, 3)))
        # Draws between, of half words too, which go on where ours end.
        assert ours.random() == theirs.random()
        np.testing.assert_array_equal(ours.integers(0, 9, 3, np.uint32), theirs.integers(0, 9, 3, np.uint32))
        np.testing.assert_array_equal(np.asarray(ours.uniform(-2, 3, 33)), theirs.uniform(-2, 3, 33))
        np.testing.assert_array_equal(np.asarray(ours.standard_normal(5)), theirs.standard_normal(5))
        ours = pickle.loads(pickle.dumps(ours))


def test_functions_with_a_seed_are_numpys():
    hn.random.seed(4)
    got = [np.asarray(one) for one in (hn.random.rand(3, 2), hn.random.randn(4), hn.random.randint(0, 9, 5))]
    np.random.seed(4)
    for ours, theirs in zip(got, (np.random.rand(3, 2), np.random.randn(4), np.random.randint(0, 9, 5))):
        np.testing.assert_array_equal(ours, theirs)
    theirs = np.random.default_rng(5)
    np.testing.assert_array_equal(np.asarray(hn.random.default_rng(5).random(9)), theirs.random(9))


def test_functions_can_be_recorded(monkeypatch):
    monkeypatch.setenv("HEDDLE_RANDOM", "recorded")
    hn.random.seed(11)
    x = hn.random.rand(4, 3)
    assert x._pending
    np.testing.assert_array_equal(np.asarray(x), np.random.Generator(np.random.Philox(11)).random((4, 3)))
    np.testing.assert_array_equal(np.asarray(hn.random.default_rng(11).random(12)), np.asarray(x).reshape(-1))
    hn.random.randn(3)


def draws(rng):
    shuffled = hn.arange(64)
    rng.shuffle(shuffled)
    return [np.asarray(one) for one in (
        rng.random((16, 4)), rng.normal(2, 3, 64), rng.integers(0, 2**63, 64, np.uint64), shuffled,
        rng.choice(3, 64, p=[0.2, 0.3, 0.5]), rng.choice(np.arange(64.0), 7, replace=False))]  # fmt: skip


def test_the_same_numbers_on_any_number_of_devices():
    hn.fallbacks.clear()
    want = draws(hn.random.Generator(hn.random.Recorded(11)))
    recorded.set_devices(3, 0)
    for ours, one in zip(draws(hn.random.Generator(hn.random.Recorded(11))), want):
        np.testing.assert_array_equal(ours, one)
        assert ours.dtype == one.dtype
    assert not hn.fallbacks


def test_distributions_have_their_moments():
    rng = hn.random.Generator(hn.random.Recorded(1))
    count = 16_000
    recorded.set_at_once(count)
    for drawn, mean, deviation in (
        (rng.normal(2, 3, count), 2, 3), (rng.exponential(2, count), 2, 2), (rng.integers(0, 5, count), 2, 2**0.5),
        (rng.choice(2, count, p=[0.25, 0.75]), 0.75, 0.1875**0.5),
    ):  # fmt: skip
        values = np.asarray(drawn)
        assert abs(values.mean() - mean) < 0.1 and abs(values.std() - deviation) < 0.1
    assert sorted(np.asarray(rng.permutation(500))) == list(range(500))


def test_no_seed_is_another_every_time():
    assert hn.random.default_rng().random() != hn.random.default_rng().random()
    x = hn.random.default_rng().standard_normal((30, 2))
    assert type(x) is hn.ndarray and x.shape == (30, 2)


@pytest.mark.parametrize("call", (
    lambda m: m.random.default_rng(1).uniform(0, np.inf, 20),
    lambda m: m.random.Generator(m.random.Philox(1)).normal(0, -1, 3),
    lambda m: m.random.default_rng(-1), lambda m: m.random.default_rng().integers(5, 5, 9),
    lambda m: m.random.default_rng().choice(3, 4, p=[1, 2, 3]),
    lambda m: m.random.default_rng().choice(3, 4, replace=False),
))  # fmt: skip
def test_wrong_use_has_numpys_words(call):
    with pytest.raises(Exception) as theirs:
        call(np)
    with pytest.raises(type(theirs.value)) as ours:
        call(hn)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("dtype", ("f8", "f4", "i2", "u8"))
def test_sorting_and_searching(dtype):
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((5, 12)) * 4).astype(dtype)
    if dtype[0] == "f":
        x[1, 2:7] = np.nan, -np.nan, -0.0, 0.0, -np.inf
    recorded.set_devices(2, 0)
    ours = hn.asarray(x)
    for axis in (0, 1, None):
        sorted_ones = np.asarray(hn.sort(ours, axis))
        np.testing.assert_array_equal(sorted_ones, np.sort(x, axis))
        assert np.signbit(sorted_ones).sum() == np.signbit(np.where(np.isnan(x), 1, x)).sum()
        np.testing.assert_array_equal(np.asarray(hn.argsort(ours, axis)), np.argsort(x, axis, stable=True))
    turned = hn.argsort(ours, 1, descending=True)
    assert (np.diff(np.take_along_axis(x, np.asarray(turned), 1)[2:].astype(float)) <= 0).all()
    line = np.sort(x, None)
    for side in ("left", "right"):
        found = hn.searchsorted(hn.asarray(line), ours, side)
        np.testing.assert_array_equal(np.asarray(found), np.searchsorted(line, x, side))
    ours.sort(0)
    np.testing.assert_array_equal(np.asarray(ours), np.sort(x, 0))


def test_transforms_of_dealt_out_arrays():
    rng = np.random.default_rng(3)
    recorded.set_devices(2, 0)
    for made in (rng.standard_normal((6, 10)), (rng.standard_normal((12, 7)) + 1j).astype("c8"), rng.random((4, 74))):
        ours = hn.asarray(made)
        for axis in (0, 1):
            for name in ("fft", "ifft"):
                got, want = getattr(hn.fft, name)(ours, axis=axis), getattr(np.fft, name)(made, axis=axis)
                assert got._pending and got.dtype == want.dtype
                np.testing.assert_allclose(np.asarray(got), want, atol=1e-5 if made.dtype == "c8" else 1e-12)
