# mypy: ignore-errors
"""heddle.numpy.random with cuPyNumeric's generators and element types.

XORWOW, MRG32k3a and PHILOX4_32_10 are names for one source, Philox's words: numbers are as random as cuPyNumeric's,
and not the same ones."""

import inspect as _inspect

import heddle.numpy as _arrays
import numpy as _np
from heddle.numpy import random as _random
from heddle.numpy.random import Recorded as _Recorded

# What each distribution is told, by cuPyNumeric's names; NumPy has the same in the same order.
_DISTRIBUTIONS = {
    name: tuple((one.partition("=")[0], one.partition("=")[2]) for one in parameters.split())
    for name, parameters in {
        "beta": "a b", "binomial": "ntrials p", "chisquare": "df", "exponential": "scale=1", "f": "dfnum dfden",
        "gamma": "shape scale=1", "geometric": "p", "gumbel": "loc=0 scale=1", "hypergeometric": "ngood nbad nsample",
        "laplace": "loc=0 scale=1", "logistic": "loc=0 scale=1", "lognormal": "mean=0 sigma=1", "logseries": "p",
        "negative_binomial": "ntrials p", "noncentral_chisquare": "df nonc", "noncentral_f": "dfnum dfden nonc",
        "normal": "loc=0 scale=1", "pareto": "a", "poisson": "lam=1", "power": "a", "rayleigh": "scale=1",
        "standard_cauchy": "", "standard_exponential": "", "standard_gamma": "shape", "standard_normal": "",
        "standard_t": "df", "triangular": "left mode right", "uniform": "low=0 high=1", "vonmises": "mu kappa",
        "wald": "mean scale", "weibull": "a", "zipf": "a",
    }.items()
}  # fmt: skip
_OTHER_NAMES = {"n": "ntrials"}  # NumPy's


def _signature(parameters):
    kind = _inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = [_inspect.Parameter(name, kind, default=float(value) if value else _inspect.Parameter.empty)
             for name, value in parameters]  # fmt: skip
    given += [_inspect.Parameter(name, kind, default=None) for name in ("size", "dtype")]
    return _inspect.Signature(given)


def _typed(values, dtype):
    if dtype is None or getattr(values, "dtype", None) == dtype:
        return values
    return values.astype(dtype) if hasattr(values, "astype") else _np.dtype(dtype).type(values)


def _drawn(name, draw):
    """One distribution with a size and a type, where `draw` has it without the type."""
    signature = _signature(_DISTRIBUTIONS[name])

    def function(*args, **kwargs):
        given = signature.bind(*args, **{_OTHER_NAMES.get(key, key): one for key, one in kwargs.items()})
        given.apply_defaults()
        *parameters, size, dtype = given.arguments.values()
        return _typed(draw(name, *parameters, size), dtype)

    function.__name__, function.__signature__ = name, signature
    return function


def _of_module(name, *args):
    return getattr(_random, name)(*args)


globals().update({name: _drawn(name, _of_module) for name in _DISTRIBUTIONS})


def _with_type(name):
    function = getattr(_random, name)

    def typed(*args, dtype=None, **kwargs):
        return _typed(function(*args, **kwargs), dtype)

    typed.__name__ = name
    return typed


rand, randn, random_sample, ranf, sample = map(_with_type, ("rand", "randn", "random_sample", "ranf", "sample"))


def random(size=None, dtype=None, out=None):
    if out is not None:
        return Generator(_of_this_module()).random(size, out.dtype if dtype is None else dtype, out)
    return _typed(_random.random(size), dtype)


def random_integers(low, high=None, size=None):
    low, high = (1, low) if high is None else (low, high)
    return _random.randint(low, high + 1, size)


class BitGenerator:
    """A source of words for Generator."""

    def __init__(self, seed=None, forceBuild=False):  # noqa: N803, by cuPyNumeric's name
        if type(self) is BitGenerator:
            raise NotImplementedError("BitGenerator is a base class and cannot be instantized")
        self.seed = seed
        self._generator = _random.Generator(_Recorded(seed))

    def random_raw(self, shape=None):
        if shape is None:
            return int(self._generator._bits.random_raw())
        count = int(_np.prod(shape))
        return _arrays.asarray(self._generator._words(count)).reshape(shape)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Generator(self), name)


class XORWOW(BitGenerator):
    pass


class MRG32k3a(BitGenerator):
    pass


class PHILOX4_32_10(BitGenerator):
    pass


class Generator:
    """Distributions of a bit generator's words, of NumPy's kind too, in the type that is asked for."""

    def __init__(self, bit_generator):
        self.bit_generator = bit_generator
        ours = isinstance(bit_generator, BitGenerator)
        self._generator = bit_generator._generator if ours else _random.Generator(bit_generator)

    def _draw(self, name, *args):
        return getattr(self._generator, name)(*args)

    def random(self, size=None, dtype=_np.float64, out=None):
        dtype = _np.dtype(dtype)
        if out is None and dtype.kind == "f":
            return _typed(self._generator.random(size), dtype)
        return self._generator.random(size, dtype, out=out)

    def integers(self, low, high=None, size=None, dtype=_np.int64, endpoint=False):
        # Beyond a narrow type they go around.
        wide = _np.uint64 if _np.dtype(dtype) == _np.uint64 else _np.int64
        return _typed(self._generator.integers(low, high, size, wide, endpoint), _np.dtype(dtype))

    def cauchy(self, x0, gamma, size=None, dtype=None):
        return _typed(x0 + gamma * self._generator.standard_cauchy(size), dtype)

    def __getattr__(self, name):
        if name in _DISTRIBUTIONS:
            return _drawn(name, self._draw)
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._generator, name)


def default_rng(seed=None):
    """Without a bit generator NumPy's own numbers for a seed, as heddle.numpy has them."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, BitGenerator):
        return Generator(seed)
    made = _random.default_rng(seed)
    wrapped = Generator.__new__(Generator)
    wrapped.bit_generator, wrapped._generator = made._bits, made
    return wrapped


def _of_this_module():
    return _np.random.default_rng(int(_random.randint(0, 2**31))).bit_generator


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_random, name)


def __dir__():
    return sorted({*globals(), *dir(_random)})
