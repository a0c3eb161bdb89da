# mypy: ignore-errors
"""Stores of Legate: here an array, with the changes of shape that are asked of a store."""

import heddle.numpy as hnp
from legate_sparse._arrays import SUPPORTED_DATATYPES as SUPPORTED_DATATYPES


class Store:
    def __init__(self, array):
        self._array = array

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    type = property(lambda self: self._array.dtype)
    transformed = property(lambda self: False)

    def transpose(self, axes):
        return Store(self._array.transpose(axes))

    def promote(self, extra_dim, dim_size):
        """A new dimension along which all is repeated."""
        wider = hnp.expand_dims(self._array, extra_dim)
        shape = list(wider.shape)
        shape[extra_dim] = dim_size
        return Store(hnp.broadcast_to(wider, tuple(shape)))

    def project(self, dim, index):
        return Store(self._array[(slice(None),) * dim + (index,)])

    def slice(self, dim, sl):
        return Store(self._array[(slice(None),) * dim + (sl,)])


def get_store_from_cupynumeric_array(arr, copy=False):
    return Store(hnp.array(arr) if copy else hnp.asarray(arr))


def store_to_cupynumeric_array(store):
    return store._array


def is_dtype_supported(dtype):
    return dtype in SUPPORTED_DATATYPES


def find_common_type(*args):
    return hnp.result_type(*(one.dtype for one in args))


def sort_by_rows_then_cols(rows, cols):
    """The order of places by row, and by column in each row."""
    return hnp.lexsort((cols, rows))
