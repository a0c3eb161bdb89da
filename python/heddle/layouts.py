"""Meshes and layouts in the words that the compiler reads: "dp=2,tp=4" and "_,tp"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heddle.errors import Error


def mesh_words(mesh: Any) -> str:
    """A mesh as text.

    >>> mesh_words({"dp": 2, "tp": 4})
    'dp=2,tp=4'
    """
    if mesh is None:
        return ""
    if isinstance(mesh, str):
        return mesh
    if not isinstance(mesh, Mapping) and hasattr(mesh, "shape"):
        mesh = dict(mesh.shape)  # jax.sharding.Mesh
    if not isinstance(mesh, Mapping):
        raise Error(f"mesh={mesh!r}: write axes with their sizes, as in {{'dp': 2, 'tp': 4}}")
    for name, size in mesh.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise Error(f"mesh={mesh!r}: the axis {name} has to have a size of at least 1")
    return ",".join(f"{name}={size}" for name, size in mesh.items())


def spec_words(spec: Any, rank: int) -> str:
    """A PartitionSpec, or the like, as text.

    >>> spec_words([("dp", "fsdp"), None], 3)
    'dp+fsdp,_,_'
    """
    entries = list(spec) + [None] * (rank - len(spec))
    return ",".join(_entry_words(entry) for entry in entries)


def _entry_words(entry: Any) -> str:
    if entry is None:
        return "_"
    if isinstance(entry, str):
        return entry
    return "+".join(entry) if entry else "_"


def rank_of(type_text: str) -> int:
    """The dimensions of "tensor<4x8xf32>".

    >>> rank_of("tensor<4x8xf32>"), rank_of("tensor<complex<f32>>")
    (2, 0)
    """
    found = re.match(r"tensor<((?:\d+x)*)", type_text)
    return found.group(1).count("x") if found else 0


def _matches(pattern: str, name: str) -> bool:
    words = [re.escape(word) for word in pattern.split("*")]
    return re.fullmatch(".*".join(words), name) is not None


def layout_entries(
    layouts: Mapping[str, Any] | None, values: Sequence[tuple[str, str, str]]
) -> list[tuple[str, str]]:
    """Layouts as the compiler takes them: pairs of a name or pattern and words.

    ``values`` are the arguments and results: number ("arg0"), name and type.
    """
    entries: list[tuple[str, str]] = []
    for name, layout in (layouts or {}).items():
        if isinstance(layout, str):
            entries.append((name, layout))
        elif isinstance(layout, Iterable):
            entries.extend(_spec_entries(name, layout, values))
        else:
            raise Error(
                f"layouts[{name}]: {layout!r} is no layout; write '_,tp', or a PartitionSpec"
            )
    return entries


def _spec_entries(
    name: str, spec: Any, values: Sequence[tuple[str, str, str]]
) -> list[tuple[str, str]]:
    # Each value has its own number of dimensions, which a PartitionSpec may leave open.
    found = [v for v in values if name in v or _matches(name, v[1])]
    if not found:
        return [(name, spec_words(spec, 0))]  # the compiler knows what it may be near to
    return [(number, spec_words(spec, rank_of(type_text))) for number, _, type_text in found]
