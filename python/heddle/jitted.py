"""heddle.jit: a JAX function, compiled by Heddle for one device or for those of a mesh."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.tree_util import keystr, tree_flatten, tree_flatten_with_path, tree_leaves, tree_unflatten

from heddle import _core, jax_plugin
from heddle._core import Array
from heddle._device import as_jax, device_words
from heddle.errors import Error
from heddle.layouts import layout_entries, mesh_words
from heddle.reports import Report, plan_tables, profile_rows, step_rows
from heddle.schedules import schedule_words

# JAX leaves these without types.
_config: Any = jax.config
_struct: Any = jax.ShapeDtypeStruct

_OUTPUTS = ("heddle", "numpy", "jax", "torch")


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compiles a JAX function with Heddle.

    ==================  =====================================================================
    ``mesh``            the devices: ``{"dp": 2, "tp": 4}``; without it there is one
    ``layouts``         where values lie, by path or pattern: ``{"params['w']": "_,tp"}`` or a
                        PartitionSpec; all others follow
    ``plan``            a file with both, as ``heddle run --plan`` takes it; ``"auto"``: the best
                        layouts are searched for, around those that are given
    ``micro_batches``   into how many parts the batch is cut, which are worked on one after the
                        other; their gradients are summed up
    ``pipeline``        the axis of the mesh along which stages lie that micro-batches pass
                        through: ``"pp"``; ``interleave``: how many parts of the program each has
    ``stages``          how many stages a search is to find, along an axis of the mesh that has
                        as many devices; ``"auto"``: it says how many. ``micro_batches`` may be
                        ``"auto"`` too
    ``schedule``        steps for computation and communication: a ``heddle.schedule``, its text, a
                        file of it; ``"auto"``: the fastest one is found by timing them
    ``donate``          arguments that a call may overwrite, by number or name
    ``static_argnums``  arguments that are part of the program; ``static_argnames`` as well
    ``out``             what calls give: "heddle", "numpy", "jax" or "torch"
    ``device``          what each device is: "cpu", "cuda", "cuda:1"; arrays stay there between calls
    ``ranks``           True: each device is a process, started by a launcher
    ==================  =====================================================================

    >>> import numpy as np
    >>> double = jit(lambda x: 2 * x, mesh={"dp": 2}, layouts={"x": "dp"})
    >>> y = double(np.ones(4, np.float32))
    >>> y.layout, [part.shape for part in y.parts]
    ('dp', [(2,), (2,)])
    """
    if function is None:
        return functools.partial(jit, **options)
    return Jitted(function, **options)


def _count(name: str, count: int | str, auto: bool = True) -> int:
    """A number of 1 or more; 0 for "auto"."""
    if auto and count == "auto":
        return 0
    if not isinstance(count, int) or count < 1:
        raise Error(f'{name}={count!r}: it is a number of 1 or more{", or auto" if auto else ""}')
    return count


@dataclass
class Compiled:
    """One program: for arguments of one structure, of these types."""

    program: _core.Program
    target: _core.Target
    out_tree: Any
    types: tuple[jax.ShapeDtypeStruct, ...]  # of the arguments
    callbacks: list[Any]  # Python functions that the program calls, by number
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _function: _core.CompiledFunction | None = None

    @property
    def function(self) -> _core.CompiledFunction:
        """Compiled when it is first asked for: a plan needs no machine code."""
        with self._lock:
            if self._function is None:
                self._function = _core.compile(self.program, self.target, self.callbacks)
            return self._function


class Jitted:
    """What ``heddle.jit`` gives: called as the function is, and asked what it does."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        mesh: Any = None,
        layouts: Mapping[str, Any] | None = None,
        plan: str | None = None,
        donate: int | str | Iterable[int | str] = (),
        static_argnums: int | Sequence[int] = (),
        static_argnames: str | Iterable[str] = (),
        out: str = "heddle",
        ranks: bool = False,
        device: str = "cpu",
        micro_batches: int | str = 1,
        pipeline: str | None = None,
        interleave: int | None = None,
        stages: int | str = 1,
        schedule: Any = None,
    ) -> None:
        if not callable(function):
            raise Error(f"heddle.jit takes a function, and {function!r} came in")
        if out not in _OUTPUTS:
            raise Error(f"out={out!r}: it is one of {', '.join(_OUTPUTS)}")
        functools.update_wrapper(self, function)
        self._mesh = mesh_words(mesh)
        self._layouts = dict(layouts or {})
        self._plan = plan or ""
        self._out = out
        self._ranks = ranks
        self._device = device_words(device)
        self._stages: dict[str, Any] = {
            "micro_batches": _count("micro_batches", micro_batches),
            "pipeline": pipeline or "",
            "interleave": 0 if interleave is None else _count("interleave", interleave, auto=False),
            "stages": _count("stages", stages),
            "schedule": schedule_words(schedule),
        }
        given = [donate] if isinstance(donate, (int, str)) else list(donate)
        self._nums, self._names = _static_places(function, static_argnums, static_argnames)
        self._is_static = bool(self._nums or self._names)
        self._jax = jax.jit(
            function,
            static_argnums=self._nums or None,
            static_argnames=tuple(self._names) or None,
            donate_argnums=tuple(d for d in given if isinstance(d, int)) or None,
            donate_argnames=tuple(d for d in given if isinstance(d, str)) or None,
            keep_unused=True,
        )
        self._function = function
        self._tables: dict[Any, _core.DispatchTable] = {}
        self._table = _core.DispatchTable()
        self._compiled: dict[Any, Compiled] = {}
        self._last: Compiled | None = None
        self._lock = threading.RLock()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: the instance is the first argument, static or a pytree."""
        return self if instance is None else functools.partial(self, instance)

    # ---- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_static or _config.jax_enable_x64:
            statics, leaves, tree = self._apart(args, kwargs)
            table = self._table_for(statics)
        else:
            leaves, tree = tree_flatten((args, kwargs))
            table = self._table
        found = table.call(leaves, tree)
        if found is None:
            return self._first_call(table, args, kwargs, leaves, tree)
        results, out_tree = found
        if self._out != "heddle":
            results = [_given_out(result, self._out) for result in results]
        return out_tree.unflatten(results)

    def _first_call(
        self, table: _core.DispatchTable, args: Any, kwargs: Any, leaves: list[Any], tree: Any
    ) -> Any:
        # Inside of another transformation it is the function that it was.
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return self._function(*args, **kwargs)
        compiled = self._compile(args, kwargs)
        table.add(leaves, tree, compiled.function, compiled.out_tree)
        results = compiled.function(leaves)
        if self._out != "heddle":
            results = [_given_out(result, self._out) for result in results]
        return compiled.out_tree.unflatten(results)

    def _apart(self, args: Any, kwargs: Any) -> tuple[Any, list[Any], Any]:
        """What is static, and leaves and structure of the rest."""
        nums = {n % len(args) for n in self._nums if -len(args) <= n < len(args)}
        fixed = tuple((i, args[i]) for i in sorted(nums))
        named = tuple(sorted((k, v) for k, v in kwargs.items() if k in self._names))
        leaves, tree = tree_flatten(
            (
                tuple(a for i, a in enumerate(args) if i not in nums),
                {k: v for k, v in kwargs.items() if k not in self._names},
            )
        )
        return (bool(_config.jax_enable_x64), fixed, named), leaves, tree

    def _table_for(self, statics: Any) -> _core.DispatchTable:
        try:
            return self._tables.setdefault(statics, _core.DispatchTable())
        except TypeError as trouble:
            raise Error(f"a static argument has to be hashable: {trouble}") from None

    # ---- compiling

    def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """The program for such arguments, which may be jax.ShapeDtypeStruct."""
        return self._compile(args, kwargs)

    def _compile(self, args: Any, kwargs: Any) -> Compiled:
        statics, leaves, tree = self._apart(args, kwargs)
        types = tuple(_type_of(leaf, args, kwargs) for leaf in leaves)
        key = (statics, tree, tuple((t.shape, t.dtype, t.weak_type) for t in types))
        with self._lock:
            found = self._compiled.get(key)
            if found is None:
                found = self._compile_for(args, kwargs, types)
                self._compiled[key] = found
            self._last = found
            return found

    def _compile_for(
        self, args: Any, kwargs: Any, types: tuple[jax.ShapeDtypeStruct, ...]
    ) -> Compiled:
        lowered = self._lower(args, kwargs, types)
        name = getattr(self._function, "__name__", "function")
        callbacks = _callbacks(lowered)
        program = _core.read_program(lowered.as_text(debug_info=True), name, bool(callbacks))
        values = [(f"arg{i}", *value) for i, value in enumerate(program.arguments)]
        values += [(f"result{i}", *value) for i, value in enumerate(program.results)]
        target = _core.Target(
            mesh=self._mesh,
            layouts=layout_entries(self._layouts, values),
            plan=self._plan,
            carried=program.aliases,
            donated=[info.donated for info in tree_leaves(lowered.args_info)],
            ranks=self._ranks,
            device=self._device,
            **self._stages,
        )
        return Compiled(program, target, _outputs(lowered), types, callbacks)

    def _lower(self, args: Any, kwargs: Any, types: tuple[jax.ShapeDtypeStruct, ...]) -> Any:
        left = list(types)

        def typed(tree: Any) -> Any:
            leaves, structure = tree_flatten(tree)
            return tree_unflatten(structure, [left.pop(0) for _ in leaves])

        nums = {n % len(args) for n in self._nums if -len(args) <= n < len(args)}
        own = [a if i in nums else typed(a) for i, a in enumerate(args)]
        named = {k: v if k in self._names else None for k, v in kwargs.items()}
        for k in sorted(kwargs):
            if k not in self._names:
                named[k] = typed(kwargs[k])
        return self._jax.trace(*own, **named).lower(lowering_platforms=("cpu",))

    # ---- asking

    def _asked(self, args: Any, kwargs: Any) -> Compiled:
        if args or kwargs:
            return self._compile(args, kwargs)
        if self._last is None:
            raise Error("nothing has been called yet: say for which arguments, as in f.plan(x)")
        return self._last

    def plan(self, *args: Any, explain: bool = False, **kwargs: Any) -> Report:
        """How arguments and results lie on the mesh, and what its devices tell each other.

        Before anything has run: arguments may be ``jax.ShapeDtypeStruct``. Without any, those of
        the last call are meant. ``explain`` adds every choice, with what was rejected.
        """
        compiled = self._asked(args, kwargs)
        text, data, pictures = _core.plan(compiled.program, compiled.target, explain)
        return Report(text, json.loads(data), plan_tables(json.loads(data)), pictures)

    def explain(self, *args: Any, **kwargs: Any) -> Report:
        """What a call does, step by step."""
        function = self._asked(args, kwargs).function
        text, data = _core.explain(function)
        return Report(text, json.loads(data), [step_rows(function.steps)])

    def profile(self, *args: Any, steps: int = 20, **kwargs: Any) -> Report:
        """What takes the time: kernels, collectives and library calls with their lines.

        Without arguments, values are made up for those of the last call. Donated ones stay.
        """
        compiled = self._asked(args, kwargs)
        function, values = compiled.function, self._values(compiled, args, kwargs)
        text, data, times = _core.profile(function, values, steps)
        return Report(text, json.loads(data), [profile_rows(function.steps, times, steps)])

    def trace(self, file: str, *args: Any, steps: int = 3, **kwargs: Any) -> None:
        """Writes when each step of a few calls ran, for https://ui.perfetto.dev."""
        compiled = self._asked(args, kwargs)
        compiled.function.trace(self._values(compiled, args, kwargs), str(file), steps)

    def _values(self, compiled: Compiled, args: Any, kwargs: Any) -> list[Any]:
        _, leaves, _ = self._apart(args, kwargs)
        if not leaves or any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves):
            return [_made_up(i, t) for i, t in enumerate(compiled.types)]
        return leaves


class _Keys:
    """The structure of results, some of which are keys of jax.random."""

    def __init__(self, tree: Any, kinds: dict[int, Any]) -> None:
        self._tree, self._kinds = tree, kinds

    def unflatten(self, results: list[Any]) -> Any:
        for i, kind in self._kinds.items():
            bits = jax.numpy.asarray(np.asarray(results[i]))
            results[i] = jax.random.wrap_key_data(bits, impl=kind)
        return self._tree.unflatten(results)


def _outputs(lowered: Any) -> Any:
    kinds = {
        i: getattr(getattr(info.dtype, "_impl", None), "name", None)
        for i, info in enumerate(tree_leaves(lowered.out_info))
        if jax.numpy.issubdtype(info.dtype, jax.dtypes.prng_key)
    }
    return _Keys(lowered.out_tree, kinds) if kinds else lowered.out_tree


def _callbacks(lowered: Any) -> list[Any]:
    """What the program calls while it runs: jax.pure_callback, jax.debug.print and the like."""
    found = getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("host_callbacks")
    if found:
        jax_plugin.connect()
    return list(found or ())


def _static_places(
    function: Callable[..., Any], nums: int | Sequence[int], names: str | Iterable[str]
) -> tuple[tuple[int, ...], frozenset[str]]:
    """Static arguments by number and by name: a call may give them either way."""
    numbers = {nums} if isinstance(nums, int) else set(nums)
    called = {names} if isinstance(names, str) else set(names)
    try:
        known = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        known = []
    by_number = {i for i, name in enumerate(known) if name in called}
    by_name = {known[i] for i in numbers if -len(known) <= i < len(known)}
    return tuple(sorted(numbers | by_number)), frozenset(called | by_name)


def _type_of(leaf: Any, args: Any, kwargs: Any) -> Any:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    if isinstance(leaf, (bool, int, float, complex)):
        aval = jax.eval_shape(lambda x: x, leaf)
        return _struct(aval.shape, aval.dtype, weak_type=True)
    if isinstance(leaf, (jax.Array, Array)):
        weak = getattr(leaf, "weak_type", False)
        return _struct(leaf.shape, leaf.dtype, weak_type=weak)
    dtype = _numpy_dtype(leaf)
    if dtype is None or not jax.numpy.issubdtype(dtype, np.generic) or dtype.kind in "OSUmM":
        raise Error(
            f"{_path_of(leaf, args, kwargs)} is {_called(leaf)}, which cannot be computed with: "
            "convert it to truth values, integers, floats or complex numbers"
        )
    shape = tuple(leaf.shape)
    return _struct(shape, jax.dtypes.canonicalize_dtype(dtype))


def _numpy_dtype(leaf: Any) -> np.dtype[Any] | None:
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        return None
    name = str(dtype).removeprefix("torch.")
    try:
        return np.dtype(jax.numpy.dtype(name) if str(dtype) != name else dtype)
    except TypeError:
        return None


def _called(leaf: Any) -> str:
    dtype = getattr(leaf, "dtype", None)
    return f"an array of {dtype}" if dtype is not None else f"of the type {type(leaf).__name__}"


def _path_of(leaf: Any, args: Any, kwargs: Any) -> str:
    paths, _ = tree_flatten_with_path((args, kwargs))
    for path, value in paths:
        if value is leaf:
            inside = keystr(path[2:])
            named = path[1].key if path[0].idx == 1 else f"argument {path[1].idx}"
            return f"{named}{inside}"
    return "an argument"


def _made_up(number: int, wanted: jax.ShapeDtypeStruct) -> Any:
    dtype = np.dtype(wanted.dtype)
    if jax.numpy.issubdtype(dtype, np.inexact):
        generator = np.random.default_rng(number)
        return generator.standard_normal(wanted.shape).astype(dtype)
    return np.zeros(wanted.shape, dtype)


def _given_out(result: Array, kind: str) -> Any:
    if kind == "numpy":
        return np.asarray(result)
    if kind == "jax":
        return as_jax(result)
    return importlib.import_module("torch").from_dlpack(result)
