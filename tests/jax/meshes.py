"""Meshes of pretended CPU devices, values, and the table of programs."""

import jax
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

PROGRAMS = {}  # name -> (mesh, function, specs of arguments, specs of results, arguments)
RANDOM = np.random.default_rng(0)


def mesh(**axes):
    count = int(np.prod(list(axes.values())))
    return Mesh(np.array(jax.devices()[:count]).reshape(tuple(axes.values())), tuple(axes))


LINE = mesh(x=4)
SQUARE = mesh(x=2, y=2)
WIDE = mesh(x=2, y=4)
CUBE = mesh(a=2, b=2, c=2)
TRAINING = mesh(dp=2, tp=2)
PIPELINED = mesh(pp=2, dp=2, tp=2)


def real(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def below(most, *shape):
    return RANDOM.integers(0, most, shape).astype(np.int32)


def program(where, takes, gives, *arguments):
    """Puts the function that follows into the table."""
    def put(function):
        PROGRAMS[function.__name__] = (where, function, takes, gives, arguments)
        return function
    return put


def mapped(where, takes, gives, *arguments, axes=None):
    """The same for a function that is written per device along the axes."""
    def put(function):
        names = frozenset(axes or where.axis_names)
        whole = jax.shard_map(function, mesh=where, in_specs=tuple(along(s, names) for s in takes),
                              out_specs=along(gives, names), axis_names=names)
        PROGRAMS[function.__name__] = (where, lambda *given: whole(*given), takes, gives, arguments)
        return function
    return put


def along(spec, names):
    """A specification without the axes that are left to the compiler."""
    if not isinstance(spec, P):
        return tuple(along(one, names) for one in spec)
    return P(*(dim if dim in names else None for dim in spec))
