# mypy: ignore-errors
"""Random numbers, recorded where a number of a stream depends on its place only.

With a seed they are NumPy's own numbers, whatever the number of devices. Those of `default_rng()` nobody can tell
from NumPy's, and all common distributions are recorded; so they are with `Generator(Recorded(seed))`.
"""

from __future__ import annotations

import math
import os
import secrets
import sys
from typing import Any

import numpy as np

from heddle.numpy import _bits, _fallback
from heddle.numpy._core import ndarray, recorded
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox, SeedSequence  # noqa: F401

# Of wrong arguments, in NumPy's words, without a draw from another's stream.
_COMPLAINS = np.random.Generator(PCG64(0))
_COMMON = 1 << 16  # elements of an array whose parts are surely those of ranks


class Recorded:
    """Philox's bits with distributions that take as many of them whatever they are: all of `Generator`'s that are
    named below are recorded. The same seed gives the same numbers on any number of devices; normals, exponentials,
    whole numbers, permutations and choices are other ones than NumPy's."""

    def __init__(self, seed: Any = None) -> None:
        self.bits = Philox(_common_seed() if seed is None else _fallback.lowered(seed, []))


def _of_first_rank(numbers: list[float]) -> list[float]:
    """The same on all ranks: what the first one has, of whose array the first elements are."""
    if recorded.devices() == 1:
        return numbers
    import heddle.numpy as hnp

    common = np.zeros(max(_COMMON, len(numbers) * recorded.devices()))
    common[: len(numbers)] = numbers
    return np.asarray(hnp.asarray(common) + 0.0)[: len(numbers)].tolist()


def _common_seed() -> int:
    """One that nobody knows."""
    return int(_of_first_rank([secrets.randbits(52)])[0])


def _namespace(array: Any) -> Any:
    import heddle.numpy as hnp

    return hnp if type(array) is ndarray else np


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(map(int, size)) if hasattr(size, "__iter__") else (int(size),)


def _is_number(*values: Any) -> bool:
    return all(isinstance(one, (int, float, np.integer, np.floating)) for one in values)


def _units(words: Any) -> Any:
    """From 0 to 1, without it, as NumPy makes them."""
    return (words >> 11).astype(np.float64) * 2.0**-53


def _chosen(array: ndarray, places: Any, axis: int) -> ndarray:
    """array[places] along a dimension, for places that are surely inside."""
    import heddle.numpy as hnp

    moved = hnp.moveaxis(array, axis, 0)
    places = hnp.asarray(places)
    if places.ndim == 0 or array.size == 0:
        return hnp.take(array, places, axis)
    taken = recorded.take(moved if moved._can_show() else moved.copy(), places, 0)
    return hnp.take(array, places, axis) if taken is None else hnp.moveaxis(taken, 0, axis)


def _below(words: Any, limit: int) -> Any:
    """Whole numbers from 0 to the limit, without it: the upper 64 bits of a product."""
    if limit == 1 << 64:
        return words
    low, high = limit & 0xFFFFFFFF, limit >> 32
    a, b = words & 0xFFFFFFFF, words >> 32
    if high == 0:
        return (b * low + (a * low >> 32)) >> 32
    one, other = a * high, b * low
    middle = (a * low >> 32) + (one & 0xFFFFFFFF) + (other & 0xFFFFFFFF)
    return b * high + (one >> 32) + (other >> 32) + (middle >> 32)


class Generator(_fallback.Wrapped):
    """NumPy's Generator, whose arrays are ours; what is not here is NumPy's, on memory."""

    def __init__(self, bit_generator: Any) -> None:
        self._all = isinstance(bit_generator, Recorded)  # whether distributions are ours
        self._bits = bit_generator.bits if self._all else bit_generator
        super().__init__("Generator", np.random.Generator(self._bits))

    def __reduce__(self) -> Any:
        return _restored, (self._bits, self._all)

    def spawn(self, n_children: int) -> list[Generator]:
        return [_restored(one.bit_generator, self._all) for one in self._wrapped.spawn(n_children)]

    def _words(self, count: int) -> Any:
        """So many words of 64 bits; NumPy's array where there are few."""
        drawn = _bits.draw(self._bits, count) if count > recorded.at_once() else None
        return self._bits.random_raw(count) if drawn is None else drawn

    def _left_to_numpy(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return _fallback.call(f"Generator.{name}", getattr(self._wrapped, name), args, kwargs)

    def _done(self, values: Any, size: Any) -> Any:
        """In the shape that is asked for: ours, or a number."""
        if size is None:
            return values[0]
        shaped = values.reshape(_shape(size))
        return shaped if type(shaped) is ndarray else _fallback.raised(shaped, [])

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        count = math.prod(_shape(size))
        if out is not None or np.dtype(dtype) != np.float64 or count <= recorded.at_once():
            return self._left_to_numpy("random", size, dtype, out=out)
        words = _bits.draw(self._bits, count)
        return self._left_to_numpy("random", size) if words is None else _units(words).reshape(_shape(size))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if not _is_number(low, high) or math.prod(_shape(size)) <= recorded.at_once():
            return self._left_to_numpy("uniform", low, high, size)
        _COMPLAINS.uniform(low, high, 1)
        return float(low) + (float(high) - float(low)) * self.random(size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if not self._all or out is not None or np.dtype(dtype) != np.float64:
            return self._left_to_numpy("standard_normal", size, dtype, out=out)
        count = math.prod(_shape(size))
        pairs = _units(self._words(2 * (-(-count // 2)))).reshape(-1, 2)
        xp = _namespace(pairs)
        length, angle = xp.sqrt(-2.0 * xp.log1p(-pairs[:, 0])), 2.0 * math.pi * pairs[:, 1]
        values = xp.stack([length * xp.cos(angle), length * xp.sin(angle)], axis=1).reshape(-1)
        return self._done(values[:count], size)

    def standard_exponential(self, size: Any = None, dtype: Any = np.float64, method: str = "zig",
                             out: Any = None) -> Any:  # fmt: skip
        if not self._all or out is not None or np.dtype(dtype) != np.float64:
            return self._left_to_numpy("standard_exponential", size, dtype, method, out=out)
        units = _units(self._words(math.prod(_shape(size))))
        return self._done(-_namespace(units).log1p(-units), size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        if not self._all or not _is_number(loc, scale):
            return self._left_to_numpy("normal", loc, scale, size)
        _COMPLAINS.normal(loc, scale, 1)
        return float(loc) + float(scale) * self.standard_normal(size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        if not self._all or not _is_number(scale):
            return self._left_to_numpy("exponential", scale, size)
        _COMPLAINS.exponential(scale, 1)
        return float(scale) * self.standard_exponential(size)

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64,
                 endpoint: bool = False) -> Any:  # fmt: skip
        if not self._all or not _is_number(low, 0 if high is None else high) or np.dtype(dtype) == bool:
            return self._left_to_numpy("integers", low, high, size, dtype, endpoint)
        _COMPLAINS.integers(low, high, 1, dtype, endpoint)
        first, last = (0, int(low)) if high is None else (int(low), int(high))
        words = _below(self._words(math.prod(_shape(size))), last - first + int(bool(endpoint)))
        dtype = np.dtype(dtype)
        # Sums go around, so that it is enough to have each of both in the type.
        start = np.array(first % 2**64, np.uint64).astype(dtype)[()]
        return self._done(words.astype(dtype) + start, size)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        if not self._all:
            return self._left_to_numpy("permutation", x, axis)
        import heddle.numpy as hnp

        if isinstance(x, (int, np.integer)):
            if recorded.devices_for(int(x)) == 1:  # NumPy sorts faster, and nothing has to wait for it
                return hnp.asarray(np.argsort(self._bits.random_raw(max(int(x), 0)), stable=True))
            return hnp.argsort(self._words(int(x)), stable=True)
        array = hnp.asarray(x)
        return _chosen(array, self.permutation(array.shape[axis]), axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if not self._all or type(x) is not ndarray:
            self._left_to_numpy("shuffle", x, axis)
        elif x.ndim > 0 and x.shape[axis] > 1:
            x[...] = self.permutation(x, axis)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
               shuffle: bool = True) -> Any:  # fmt: skip
        count = math.prod(_shape(size))
        if not self._all or count == 0 or (p is not None and not replace):
            return self._left_to_numpy("choice", a, size, replace, p, axis, shuffle)
        import heddle.numpy as hnp

        is_number = isinstance(a, (int, np.integer))
        population = int(a) if is_number else np.shape(a)[axis]
        if p is not None or population < 1 or (not replace and count > population):
            probabilities = None if p is None else np.asarray(p, np.float64)
            _COMPLAINS.choice(population, 1 if replace else count, replace, probabilities)
        if p is not None:
            running = np.cumsum(probabilities)
            places = hnp.searchsorted(running / running[-1], _units(self._words(count)), side="right")
        elif replace:
            places = self.integers(0, population, count)
        else:
            places = self.permutation(population)[:count]
        if size is None:
            return places[0] if is_number else hnp.take(hnp.asarray(a), int(places[0]), axis)
        places = places if is_number else _chosen(hnp.asarray(a), places, axis)
        shape = (places.shape[:axis] if not is_number else ()) + _shape(size)
        return places.reshape(shape + (() if is_number else places.shape[axis + 1 :]))


def _restored(bits: Any, is_all: bool) -> Generator:
    made = Generator(bits)
    made._all = is_all
    return made


def default_rng(seed: Any = None) -> Generator:
    """With a seed NumPy's own numbers (PCG64); without one those of `Recorded`."""
    seed = _fallback.lowered(seed, [])
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, Recorded) or seed is None:
        return Generator(seed or Recorded())
    if _is_recorded() and not isinstance(seed, (BitGenerator, np.random.Generator)):
        return Generator(Recorded(seed))
    return Generator(np.random.default_rng(seed).bit_generator)


def RandomState(seed: Any = None) -> Any:
    """NumPy's, whose arrays are ours."""
    return _fallback.Wrapped("RandomState", np.random.RandomState(_fallback.lowered(seed, [])))


# ---- functions of the module: those of NumPy's own generator, whoever gave it its seed
_generator: Generator | None = None  # in place of it
_agreed = False


def _is_recorded() -> bool:
    return os.environ.get("HEDDLE_RANDOM") == "recorded"


def _agree() -> None:
    """Ranks whose programs gave no seed begin alike nevertheless."""
    global _agreed
    if not _agreed and recorded.devices() > 1:
        kind, key, *rest = np.random.get_state()
        numbers = _of_first_rank([*map(float, key), *map(float, rest)])
        key, (at, has_gauss, gauss) = np.array(numbers[:-3], np.uint32), numbers[-3:]
        np.random.set_state((kind, key, int(at), int(has_gauss), gauss))
    _agreed = True


def seed(seed: Any = None) -> None:
    """NumPy's own numbers (MT19937), which are drawn one after the other."""
    global _agreed, _generator
    seed = _fallback.lowered(seed, [])
    np.random.seed(seed)
    _agreed = seed is not None
    _generator = Generator(Recorded(seed)) if _is_recorded() else None


def _ours() -> Generator | None:
    global _generator
    if _generator is None and _is_recorded():
        _generator = Generator(Recorded())
    return _generator


def _legacy(name: str, drawn: Any) -> Any:
    theirs = _fallback.wrapped(f"random.{name}", getattr(np.random, name))

    def function(*args: Any, **kwargs: Any) -> Any:
        ours = _ours()
        if ours is not None:
            return drawn(ours, *args, **kwargs)
        _agree()
        return theirs(*args, **kwargs)

    function.__name__, function.__doc__ = name, getattr(np.random, name).__doc__
    function._function = getattr(np.random, name)
    return function


def _randint(rng: Generator, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
    return rng.integers(low, high, size, dtype)


_LEGACY = {
    **{name: lambda rng, size=None: rng.random(size) for name in ("random", "random_sample", "ranf", "sample")},
    "rand": lambda rng, *shape: rng.random(shape or None),
    "randn": lambda rng, *shape: rng.standard_normal(shape or None),
    "randint": _randint,
    "choice": lambda rng, a, size=None, replace=True, p=None: rng.choice(a, size, replace, p),
    "permutation": lambda rng, x: rng.permutation(x),
    "shuffle": lambda rng, x: rng.shuffle(x),
    **{name: getattr(Generator, name) for name in
       ("uniform", "normal", "standard_normal", "exponential", "standard_exponential")},
}  # fmt: skip
globals().update({name: _legacy(name, drawn) for name, drawn in _LEGACY.items()})
_rest = _fallback.Module(__name__, np.random)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_rest, name)


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules[__name__]), *dir(np.random)})
