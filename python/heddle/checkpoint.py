"""Checkpoints of pytrees: saved from one mesh, restored onto any other."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from jax.tree_util import keystr, tree_flatten_with_path, tree_unflatten

from heddle import _core
from heddle._core import Array
from heddle._device import device_words
from heddle.errors import Error
from heddle.layouts import _matches, mesh_words, spec_words


def _named(tree: Any) -> tuple[list[str], list[Any], Any]:
    leaves, structure = tree_flatten_with_path(tree)
    return [keystr(path) or "value" for path, _ in leaves], [leaf for _, leaf in leaves], structure


def save(folder: str | PathLike[str], tree: Any, step: int = 0) -> None:
    """Saves a pytree of arrays, each device its own part of them.

    The folder is there whole or not at all; the folder around it has to be there.

    >>> import numpy as np, tempfile
    >>> folder = tempfile.mkdtemp() + "/step-1"
    >>> save(folder, {"w": np.ones((2, 2), np.float32)}, step=1)
    >>> np.asarray(restore(folder)["['w']"])
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    names, leaves, _ = _named(tree)
    if not leaves:
        raise Error("save: there is no array in the tree")
    values = [leaf if isinstance(leaf, Array) else _core.to_device(leaf) for leaf in leaves]
    _core.save_checkpoint(fspath(folder), names, values, step)


def restore(
    folder: str | PathLike[str],
    like: Any = None,
    *,
    mesh: Any = None,
    layouts: Mapping[str, Any] | None = None,
    device: str = "cpu",
) -> Any:
    """What was saved, as arrays on a mesh or on a device: the same tree as ``like``, or a dict by path.

    ``folder`` is a checkpoint, or a folder of them, whose newest whole one is taken. ``layouts``
    are as for ``heddle.jit``: by path or pattern; all others are whole on every device. Where
    ``like`` has arrays of Heddle on a mesh and none is given, values lie as they do. ``device`` is where
    values go that lie on no mesh, as ``"cuda"``.
    """
    device = device_words(device)
    if device != "cpu" and mesh is not None:
        raise Error(
            f"restore: device={device!r} is for values on no mesh, and mesh={mesh!r} was given: leave one out"
        )
    found = _core.Checkpoint.open(fspath(folder))
    words = mesh_words(mesh)
    if like is None:
        return {
            name: _on(device, found.restore(name, words, _layout_for(name, layouts, None)))
            for name in found.names
        }
    names, leaves, structure = _named(like)
    _want_all(names, found)
    values = []
    for name, leaf in zip(names, leaves):
        own = leaf if isinstance(leaf, Array) and leaf.mesh and not words else None
        value = found.restore(
            name,
            mesh_words(own.mesh) if own is not None else words,
            own.layout if own is not None else _layout_for(name, layouts, leaf),
        )
        if tuple(value.shape) != tuple(getattr(leaf, "shape", value.shape)):
            raise Error(
                f"{name} was saved with the shape {value.shape}, and {leaf.shape} is expected"
            )
        values.append(_on(device, value) if own is None else value)
    return tree_unflatten(structure, values)


def _on(device: str, value: Array) -> Array:
    return value if device == "cpu" else _core.to_device(value, device)


def _layout_for(name: str, layouts: Mapping[str, Any] | None, leaf: Any) -> str:
    chosen = ""
    for pattern, layout in (layouts or {}).items():
        if pattern == name or _matches(pattern, name):
            rank = len(getattr(leaf, "shape", ()))
            chosen = layout if isinstance(layout, str) else spec_words(layout, rank)
    return chosen


def _want_all(names: list[str], found: _core.Checkpoint) -> None:
    import difflib

    for name in names:
        if name in found.names:
            continue
        near = difflib.get_close_matches(name, found.names, 1)
        hint = f": did you mean {near[0]}?" if near else ""
        raise Error(f"the checkpoint has no value called {name}{hint}")
