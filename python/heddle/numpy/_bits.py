# mypy: ignore-errors
"""Random bits as NumPy's bit generators give them, written as ops: number k of a stream depends on k only, so that
every device draws its own part, and all together draw what one would."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from heddle.library import operation
from heddle.numpy._core import ndarray, wrap_numpy

_LOW = 0xFFFFFFFF


class _Words:
    """Arithmetic on words of 64 bits, of one shape, in a program that is being written."""

    def __init__(self, b: Any, shape: list[int]) -> None:
        self.b, self.shape, self._numbers = b, shape, {}

    def number(self, value: int) -> Any:
        if value not in self._numbers:
            high, low, width = (self.b.full([], float(one), "uint64") for one in (value >> 32, value & _LOW, 32))
            word = self.b.op("or", [self.b.op("shift_left", [high, width]), low])
            self._numbers[value] = self.b.spread(word, self.shape)
        return self._numbers[value]

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.b.op(name, [self.number(one) if type(one) is int else one for one in values])

    def half(self, x: Any, high: bool) -> Any:
        if type(x) is int:
            return x >> 32 if high else x & _LOW
        return self.shift_right_logical(x, 32) if high else getattr(self, "and")(x, _LOW)

    def high_product(self, x: Any, y: Any) -> Any:
        """The upper 64 bits of a product."""
        (a, b), (c, d) = ((self.half(one, False), self.half(one, True)) for one in (x, y))
        low, one, other = self.multiply(a, c), self.multiply(a, d), self.multiply(b, c)
        middle = self.add(self.add(self.half(low, True), self.half(one, False)), self.half(other, False))
        carried = self.add(self.add(self.half(one, True), self.half(other, True)), self.half(middle, True))
        return self.add(self.multiply(b, d), carried)


@operation("random.philox")
def _philox(b: Any, counter: Any, key: Any, *, blocks: list[int]) -> Any:
    """Philox with 4 words of 64 bits in 10 rounds (Salmon et al. 2011), for counters from a given one on."""
    count = blocks[0]
    words = _Words(b, [count])

    def word(of: Any, at: int) -> Any:
        return b.spread(b.reshape(b.slice(of, [at], [at + 1]), []), [count])

    # The counter has 256 bits; a call stays inside of its lowest 64.
    c = [words.add(word(counter, 0), b.iota([count], 0, "uint64")), *(word(counter, i) for i in (1, 2, 3))]
    k = [word(key, 0), word(key, 1)]
    for turn in range(10):
        if turn > 0:
            k = [words.add(k[0], 0x9E3779B97F4A7C15), words.add(k[1], 0xBB67AE8584CAA73B)]
        first, second = 0xD2E7470EE14C6C93, 0xCA5A826395121157
        high, low = words.high_product(c[0], first), words.multiply(c[0], first)
        c = [
            words.xor(words.xor(words.high_product(c[2], second), c[1]), k[0]),
            words.multiply(c[2], second),
            words.xor(words.xor(high, c[3]), k[1]),
            low,
        ]
    return b.reshape(b.concatenate([b.reshape(one, [count, 1]) for one in c], 1), [4 * count])


@operation("random.pcg64")
def _pcg64(b: Any, low: Any, high: Any, by_low: Any, by_high: Any, plus_low: Any, plus_high: Any) -> Any:
    """State i * columns + j of PCG64 is states[j] * by[i] + plus[i], of 128 bits; XSL-RR makes 64 of it."""
    rows, columns = by_low.shape[0], low.shape[0]
    words = _Words(b, [rows, columns])
    low, high = (b.broadcast(one, [rows, columns], [1]) for one in (low, high))
    m_low, m_high, c_low, c_high = (
        b.broadcast(one, [rows, columns], [0]) for one in (by_low, by_high, plus_low, plus_high)
    )
    product = words.multiply(low, m_low)
    crossed = words.add(words.multiply(low, m_high), words.multiply(high, m_low))
    upper = words.add(words.high_product(low, m_low), crossed)
    state = words.add(product, c_low)
    carry = b.convert(b.compare("LT", state, c_low), "uint64")
    upper = words.add(words.add(upper, c_high), carry)
    mixed, turn = words.xor(upper, state), words.shift_right_logical(upper, 58)
    back = getattr(words, "and")(words.subtract(64, turn), 63)
    bits = getattr(words, "or")(words.shift_right_logical(mixed, turn), words.shift_left(mixed, back))
    return b.reshape(bits, [rows * columns])


def _ours(words: Any) -> ndarray:
    return wrap_numpy(np.asarray(words, np.uint64), [])


def _philox_bits(generator: Any, count: int) -> ndarray | None:
    state = generator.state
    counter, position = state["state"]["counter"], state["buffer_pos"]
    blocks = -(-(position % 4 + count) // 4)
    if int(counter[0]) + blocks + 1 >= 2**64:
        return None
    start = counter.copy()
    start[0] += np.uint64(position // 4)
    bits = _philox(_ours(start), _ours(state["state"]["key"]), blocks=[blocks])
    # And the generator goes on behind it: but for the last block, which it makes itself.
    left = position + count - 4  # words of blocks behind the one that is in its buffer
    if left > 0:
        skipped = (left - 1) // 4
        counter[0] += np.uint64(skipped)
        generator.state = {**state, "state": {**state["state"], "counter": counter}, "buffer_pos": 4}
        generator.random_raw(left - 4 * skipped, output=False)
    else:
        generator.random_raw(count, output=False)
    return bits if len(bits) == count else bits[position % 4 : position % 4 + count]


_MASK = (1 << 128) - 1
_STEP = 0x2360ED051FC65DA44385DF649FCCF645
_COLUMNS = 1024


def _split(numbers: list[int]) -> tuple[ndarray, ndarray]:
    return _ours([one & (2**64 - 1) for one in numbers]), _ours([one >> 64 for one in numbers])


@functools.lru_cache(maxsize=16)
def _jumps(rows: int, increment: int) -> list[ndarray]:
    """What takes a state 0, 1024, 2048, … steps on: a factor and a summand for each."""
    by, plus = 1, 0
    for _ in range(_COLUMNS):
        by, plus = by * _STEP & _MASK, (plus * _STEP + increment) & _MASK
    jumps, factor, summand = [], 1, 0
    for _ in range(rows):
        jumps.append((factor, summand))
        factor, summand = factor * by & _MASK, (summand * by + plus) & _MASK
    return [*_split([one for one, _ in jumps]), *_split([one for _, one in jumps])]


def _pcg64_bits(generator: Any, count: int) -> ndarray:
    state = generator.state
    at, increment = state["state"]["state"], state["state"]["inc"]
    states = []
    for _ in range(_COLUMNS):
        at = (at * _STEP + increment) & _MASK
        states.append(at)
    bits = _pcg64(*_split(states), *_jumps(-(-count // _COLUMNS), increment))
    generator.advance(count)
    # Whole words leave the half that was drawn before.
    generator.state = {**generator.state, "has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}
    return bits if len(bits) == count else bits[:count]


_DRAWN = {np.random.Philox: _philox_bits, np.random.PCG64: _pcg64_bits}


def draw(generator: Any, count: int) -> ndarray | None:
    """The next words of 64 bits of NumPy's bit generator, recorded, which goes on behind them; None where it is
    one whose words have to be drawn one after the other."""
    drawn = _DRAWN.get(type(generator))
    return None if drawn is None else drawn(generator, count)
