from collections.abc import Sequence
from typing import Any

import numpy
import numpy.typing


def version() -> str:
    """Heddle's version, as in "0.1.0"."""

def version_line() -> str:
    """Heddle's version, and what it was built with."""

class Bytes:
    """The memory of an array, read-only."""

class Array:
    """
    A value on one device or on those of a mesh, as heddle.jit gives it.

    It stays there between calls; numpy.asarray and DLPack see its whole.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the whole."""

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's element type."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def nbytes(self) -> int:
        """The bytes of the whole."""

    @property
    def layout(self) -> str:
        """Which mesh axes split each dimension, as in "dp,_"; _ is not split."""

    @property
    def mesh(self) -> dict[str, int]:
        """The axes of its mesh with their sizes; empty on one device."""

    @property
    def parts(self) -> list[numpy.typing.NDArray[Any]]:
        """
        What each device has, as NumPy arrays: over the same memory on the CPU, copies of a GPU's.
        """

    @property
    def device(self) -> str:
        """Where it lies: "cpu", "cuda:0"."""

    def is_deleted(self) -> bool:
        """Whether it was donated or deleted."""

    def delete(self) -> None:
        """Gives its memory back."""

    def block_until_ready(self) -> Array:
        """
        Waits for the call that computes it. Those on the CPU have ended when they come back.
        """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.typing.NDArray[Any]: ...

    def __dlpack__(self, stream: int | None = None, **kwargs: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, at: Any) -> Any:
        """What NumPy gives for it."""

    def __float__(self) -> float: ...

    def __int__(self) -> int: ...

    def __bool__(self) -> bool: ...

    def item(self) -> Any:
        """The one number that it holds."""

    def __repr__(self) -> str: ...

def to_device(value: Any, device: str = 'cpu') -> Array:
    """
    An array of Heddle's on one device: the same memory on the CPU, a copy on a GPU.
    """

class Program:
    """A program, read from StableHLO text."""

    @property
    def file(self) -> str: ...

    @property
    def arguments(self) -> list[tuple[str, str]]:
        """Names and types of what its function takes."""

    @property
    def results(self) -> list[tuple[str, str]]:
        """Names and types of what its function gives."""

    @property
    def aliases(self) -> list[tuple[int, int]]:
        """Donated arguments, each with the result that takes its place."""

    def text(self) -> str:
        """StableHLO text."""

def schedule_text(text: str) -> str:
    """A schedule as it is printed; what is wrong with it is an Error."""

def read_program(text: str, file: str = 'program', callbacks: bool = False) -> Program:
    """
    Reads StableHLO text; `file` is what messages call it. With `callbacks`, calls into Python stay.
    """

class CompiledFunction:
    """A program, compiled, on its devices."""

    def __call__(self, leaves: Sequence[Any]) -> list[Array]:
        """Runs it on one value per argument."""

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What it does, in order."""

    @property
    def peak_bytes(self) -> int:
        """The most memory that values take on one device."""

    @property
    def argument_bytes(self) -> int:
        """The memory of arguments on one device."""

    @property
    def device(self) -> str:
        """What each of its devices is: "cpu", "cuda:0"."""

    @property
    def devices(self) -> int: ...

    @property
    def interpreted_because(self) -> str:
        """Why all of it is left to the interpreter; empty where it is compiled."""

    def trace(self, leaves: Sequence[Any], file: str, runs: int) -> None: ...

class Target:
    """What a program is compiled for, in words."""

    def __init__(self, mesh: str = '', layouts: Sequence[tuple[str, str]] = [], plan: str = '', carried: Sequence[tuple[int, int]] = [], donated: Sequence[bool] = [], ranks: bool = False, micro_batches: int = 1, pipeline: str = '', interleave: int = 0, stages: int = 1, device: str = 'cpu', schedule: str = '') -> None: ...

    @property
    def mesh(self) -> str: ...

def compile(program: Program, target: Target = ..., callbacks: list[Any] = ...) -> CompiledFunction:
    """
    Compiles a program for one device or for a mesh. `callbacks` are the Python functions that it calls, by number.
    """

class DispatchTable:
    """Compiled functions by what they are called with."""

    def __init__(self) -> None: ...

    def call(self, leaves: list[Any], tree: Any) -> tuple[list[Array], Any] | None: ...

    def add(self, leaves: list[Any], tree: Any, function: CompiledFunction, out_tree: Any) -> None: ...

    def clear(self) -> None: ...

    def __len__(self) -> int: ...

def save_checkpoint(folder: str, names: list[str], values: list[Array], step: int = 0) -> None: ...

class Checkpoint:
    """A checkpoint on the disk."""

    @staticmethod
    def open(path: str) -> Checkpoint: ...

    @property
    def step(self) -> int: ...

    @property
    def names(self) -> list[str]: ...

    def restore(self, name: str, mesh: str = '', layout: str = '') -> Array: ...

def plan(program: Program, target: Target, explain: bool = False) -> tuple[str, str, list[tuple[str, str]]]:
    """Text, JSON and pictures of how a program is dealt out."""

def explain(function: CompiledFunction) -> tuple[str, str]:
    """Text and JSON of what it does."""

def profile(function: CompiledFunction, leaves: Sequence[Any], runs: int) -> tuple[str, str, list[tuple[int, float]]]:
    """Text, JSON, and calls and seconds of every step."""
