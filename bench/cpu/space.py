"""One namespace for NumPy, JAX and torch, with what the programs need. Axes are given as in NumPy;
a reduction keeps its axes with size 1 unless told otherwise."""


class Space:
    """NumPy's spelling; JAX's is the same."""

    def __init__(self, array_module, erf):
        self.module, self.erf = array_module, erf
        for name in ("exp", "log", "sqrt", "tanh", "where", "abs", "round", "arange"):
            setattr(self, name, getattr(array_module, name))

    def sum(self, x, axis, keep=True):
        return self.module.sum(x, axis=axis, keepdims=keep)

    def mean(self, x, axis, keep=True):
        return self.module.mean(x, axis=axis, keepdims=keep)

    def max(self, x, axis, keep=True):
        return self.module.max(x, axis=axis, keepdims=keep)

    def rsqrt(self, x):
        return 1 / self.sqrt(x)

    def sigmoid(self, x):
        return 1 / (1 + self.exp(-x))

    def to_int8(self, x):
        return x.astype(self.module.int8)

    def to_float(self, x):
        return x.astype(self.module.float32)

    def cumsum(self, x, axis):
        return self.module.cumsum(x, axis=axis)

    def with_zero_border(self, x):
        return self.module.pad(x, 1)

    def permute(self, x, order):
        return self.module.transpose(x, order)


class TorchSpace(Space):
    def sum(self, x, axis, keep=True):
        return self.module.sum(x, dim=axis, keepdim=keep)

    def mean(self, x, axis, keep=True):
        return self.module.mean(x, dim=axis, keepdim=keep)

    def max(self, x, axis, keep=True):
        return self.module.amax(x, dim=axis, keepdim=keep)

    def rsqrt(self, x):
        return self.module.rsqrt(x)

    def to_int8(self, x):
        return x.to(self.module.int8)

    def to_float(self, x):
        return x.float()

    def cumsum(self, x, axis):
        return self.module.cumsum(x, axis)

    def with_zero_border(self, x):
        return self.module.nn.functional.pad(x, (1, 1, 1, 1))

    def permute(self, x, order):
        return x.permute(order)


def numpy_space():
    import numpy
    import scipy.special  # NumPy has no erf; JAX brings SciPy along

    return Space(numpy, scipy.special.erf)


def jax_space():
    import jax
    import jax.numpy

    space = Space(jax.numpy, jax.lax.erf)
    space.rsqrt = jax.lax.rsqrt
    return space


def torch_space():
    import torch

    return TorchSpace(torch, torch.erf)
