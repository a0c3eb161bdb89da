"""What is measured: each case is StableHLO text and a safetensors file with inputs and results."""
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tensors
from programs import CACHED_BYTES, MATRIX, MEMORY, PROGRAMS, TINY, Program

TINY_BYTES = 64 * 1024
RTOL = 1e-4


@dataclass
class Case:
    name: str
    text: Path  # StableHLO
    io: Path  # in.0, in.1, ... and out.0, out.1, ...
    kind: str
    bytes: int  # the fewest that a call moves
    rtol: float = RTOL
    atol: float | None = None  # None: RTOL of the result's root mean square
    program: Program | None = None  # None where there is only the text

    def inputs(self):
        return tensors.numbered(tensors.read(self.io), "in")

    def expected(self):
        return tensors.numbered(tensors.read(self.io), "out")

    def complaint(self, results, expected):
        """Why these results are wrong; empty where they are right."""
        if len(results) != len(expected):
            return f"{len(results)} results instead of {len(expected)}"
        for i, (got, want) in enumerate(zip(results, expected)):
            problem = self._difference(np.asarray(got), want)
            if problem:
                return f"result {i}: {problem}"
        return ""

    def _difference(self, got, want):
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
        if got.dtype.kind in "biu":
            return self._integer_difference(got, want)
        double = np.complex128 if got.dtype.kind == "c" else np.float64
        a, b = got.astype(double), want.astype(double)
        atol = self.atol if self.atol is not None else RTOL * np.sqrt(np.mean(np.abs(b) ** 2))
        with np.errstate(invalid="ignore"):
            far = ~(np.abs(a - b) <= atol + self.rtol * np.abs(b))
        far &= ~((a == b) | (np.isnan(a) & np.isnan(b)))
        if not far.any():
            return ""
        worst = np.unravel_index(np.argmax(np.where(far, np.abs(a - b), -1)), a.shape)
        return f"{far.sum()} of {a.size} differ, as {got[worst]} instead of {want[worst]}"

    def _integer_difference(self, got, want):
        off = np.abs(got.astype(np.int64) - want.astype(np.int64))
        rounds = self.program is not None and self.program.quantises
        allowed = got.size // 1000 if rounds and off.max() <= 1 else 0
        wrong = int(np.count_nonzero(off))
        return f"{wrong} of {got.size} integers differ" if wrong > allowed else ""


def file_name(name):
    return re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")


def export(program, folder):
    """Writes the text and its arrays with what JAX computes, unless they are there."""
    stem = folder / file_name(program.name)
    text, io = stem.with_name(stem.name + ".mlir"), stem.with_name(stem.name + ".safetensors")
    if not (text.exists() and io.exists()):
        lowered_text, inputs, results = _lower(program)
        named = {f"in.{i}": a for i, a in enumerate(inputs)}
        named |= {f"out.{i}": a for i, a in enumerate(results)}
        tensors.write(io, named)
        text.write_text(lowered_text)
    return Case(
        program.name, text, io, program.kind, program.sweeps * tensors.size(io), program=program
    )


def _lower(program):
    import jax

    from space import jax_space

    space, inputs = jax_space(), program.inputs()
    jax.config.update("jax_enable_x64", False)
    jitted = jax.jit(lambda *arrays: program.function(space, *arrays), keep_unused=True)
    results = [np.asarray(r) for r in jax.tree.leaves(jitted(*inputs))]
    return jitted.lower(*inputs).as_text(), inputs, results


def kind_of(text, size):
    """The class of a program of which there is only the text."""
    if size <= TINY_BYTES:
        return TINY
    if re.search(r"stablehlo\.(dot_general|dot|convolution)\b", text):
        return MATRIX
    return TINY if size <= CACHED_BYTES else MEMORY


def recorded(folder):
    """The programs of a folder with an index.json that come with recorded results."""
    index = json.loads((folder / "index.json").read_text())
    for entry in index["programs"]:
        text = folder / (entry["name"] + ".mlir")
        io = folder / (entry["name"] + ".safetensors")
        if not (entry.get("recorded") and text.exists() and io.exists()):
            continue
        size = tensors.size(io)
        kind = kind_of(text.read_text(), size)
        yield Case(entry["name"], text, io, kind, size, entry["rtol"], entry["atol"])


def chosen(name, wanted):
    return not wanted or any(part in name for part in wanted)


def all_cases(folder, programs_folder, wanted):
    """One case after the other; `folder` gets what has to be exported."""
    for program in PROGRAMS:
        if chosen(program.name, wanted):
            yield export(program, folder)
    if programs_folder is not None and (programs_folder / "index.json").exists():
        for case in recorded(programs_folder):
            if chosen(case.name, wanted):
                yield case
