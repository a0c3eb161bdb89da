# mypy: ignore-errors
"""Sparse matrices in recorded arrays: csr, csc, coo, bsr and dia, as arrays and as matrices.

What keeps the places of elements (scaling, functions of each element) and products with dense operands
are recorded. All else is SciPy's, at once, over the same memory; its results are ours again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import heddle.numpy as hnp
from heddle.numpy import _fallback
from heddle.numpy._core import adopt, ndarray, recorded
from heddle.sparse import _bridge, _product
from heddle.sparse._bridge import scipy_sparse

# Element types that products are recorded in.
_RECORDED = frozenset(map(np.dtype, "bBhHiIlLfdFD"))


def _is_number(value: Any) -> bool:
    return np.isscalar(value) or (isinstance(value, (np.ndarray, ndarray)) and value.ndim == 0)


# What NumPy's functions are here; of two operands, with the matrix first and last.
_UNARY = {"absolute": "__abs__", "negative": "__neg__", "positive": "__pos__"}
_BINARY = {
    "add": ("__add__", "__radd__"), "subtract": ("__sub__", "__rsub__"), "multiply": ("__mul__", "__rmul__"),
    "matmul": ("__matmul__", "__rmatmul__"), "divide": ("__truediv__", "__rtruediv__"), "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"), "less": ("__lt__", "__gt__"), "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"), "greater_equal": ("__ge__", "__le__"),
}  # fmt: skip


class _Sparse:
    """What all formats have; the format's class names SciPy's class and the arrays that it lies in."""

    __array_priority__ = 2000.0
    __hash__ = None
    _scipy_class: Any = None
    _parts: tuple[str, ...] = ()
    _places: tuple[str, ...] = ()  # those that say where elements are
    _shares_places = _gave_places = False
    _is_matrix = False
    _family = _bridge.ours  # classes of results, by SciPy's
    format = ""

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False,
                 **more: Any) -> None:  # fmt: skip
        given: list[ndarray] = []
        arg1 = _bridge.lowered(arg1, given)
        made = self._scipy_class(arg1, shape=shape, dtype=dtype, copy=copy, **more)
        if type(arg1) is tuple and len(arg1) == 3:  # SciPy would read past its arrays
            made.check_format(full_check=True)
        self._take(made, given, _bridge.arrays_in(arg1))

    @classmethod
    def _of(cls, made: Any, given: list[ndarray] | None = None, theirs: frozenset[int] = frozenset()) -> Any:
        """Of SciPy's matrix in the same format."""
        self = cls.__new__(cls)
        self._take(made, given or [], theirs)
        return self

    def _take(self, made: Any, given: list[ndarray], theirs: frozenset[int] = frozenset()) -> None:
        self._shape = made.shape
        for part in self._parts:
            array = getattr(made, part)
            setattr(self, part, _fallback.raised(array, given, theirs))
        self._forget()

    def __setattr__(self, name: str, value: Any) -> None:
        """NumPy's arrays as ours, which is what every part is."""
        object.__setattr__(self, name, adopt(value) if type(value) is np.ndarray else value)

    def _forget(self) -> None:
        self._seen: tuple[Any, Any, Any] | None = None  # SciPy's matrix over our memory
        self._products: dict[str, Any] = {}
        self._turned = False

    def _arrays(self) -> list[ndarray]:
        return [self._kept(part) for part in self._parts]

    def _kept(self, part: str) -> Any:
        """As it is, for us; who asks for the attribute may write to it."""
        return self.__dict__[part]

    def _now(self) -> list[int]:
        """Grows with every write to one of the arrays."""
        return [array._writes for array in self._arrays()]

    def _is_still(self, arrays: list[ndarray], writes: list[int]) -> bool:
        now = self._arrays()
        return all(a is b for a, b in zip(now, arrays)) and self._now() == writes

    def _as_scipy(self) -> Any:
        """SciPy's matrix over the same memory, for reading."""
        if self._seen is not None and self._is_still(*self._seen[:2]):
            return self._seen[2]
        arrays = [array._host() for array in self._arrays()]
        made = self._scipy_class(self._scipy_argument(arrays), shape=self._shape, copy=False)
        self._seen = self._arrays(), self._now(), made
        return made

    def _scipy_argument(self, arrays: list[Any]) -> Any:
        return tuple(arrays)

    def to_scipy(self) -> Any:
        """A copy as SciPy's matrix."""
        return self._as_scipy().copy()

    def _with_data(self, data: Any) -> Any:
        """The same places with other values."""
        other = type(self).__new__(type(self))
        other._shape = self._shape
        for part in self._places:
            other.__dict__[part] = self._kept(part)
        other.data = data
        other._forget()
        # Both have their places in the same arrays until somebody asks for these, and may write to them.
        other._shares_places = self._shares_places = True
        if self._gave_places:
            self._shares_places = False
            other._own_places()
        return other

    def _own_places(self) -> None:
        if self._shares_places:
            self._shares_places = False
            for part in self._places:
                kept = self._kept(part)
                self.__dict__[part] = tuple(one.copy() for one in kept) if type(kept) is tuple else kept.copy()

    def _give_places(self, part: str) -> Any:
        self._own_places()
        self._gave_places = True
        return self._kept(part)

    # ---- what it is
    shape = property(lambda self: self._shape, lambda self, shape: self._resize(shape))
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: len(self._shape))

    def _resize(self, shape: Any) -> None:
        made = self.to_scipy()
        made.resize(*shape)
        self._take(made, [])

    @property
    def nnz(self) -> int:
        return int(self._as_scipy().nnz)

    def getnnz(self, axis: Any = None) -> Any:
        return self.nnz if axis is None else _bridge.call(lambda m: m.getnnz(axis), self)

    def __len__(self) -> int:
        return len(self._as_scipy())  # SciPy's words: it is ambiguous

    def __bool__(self) -> bool:
        return bool(self._as_scipy())

    def __repr__(self) -> str:
        return repr(self._as_scipy())

    def __str__(self) -> str:
        return str(self._as_scipy())

    def __reduce__(self) -> Any:
        return type(self)._of, (self.to_scipy(),)

    def __iter__(self) -> Any:
        for row in self._as_scipy():
            yield _bridge.raised(row, self._arrays(), family=self._family)

    # ---- products
    def _is_small(self, x: ndarray) -> bool:
        """Whether SciPy does a product at once: everything is there, and little of it."""
        limit = recorded.at_once()
        if any(array._pending for array in self._arrays()) or x._pending:
            return False
        return self.data.size <= limit and max(x.size, self._shape[0]) <= limit

    def _form(self, of: str) -> Any:
        """The matrix as products take it; `of` its rows, or its columns."""
        side = of if not self._turned else {"rows": "columns", "columns": "rows"}[of]
        kept = self._products.get(side)
        if kept is not None:
            arrays, writes, devices, form = kept
            is_same = {*map(id, arrays)} == {*map(id, self._arrays())}
            if is_same and [a._writes for a in arrays] == writes and devices == recorded.devices():
                return form
        made = self._as_scipy() if of == "rows" else self._as_scipy().T
        form = _product.of_diagonals(made) if made.format == "dia" else _product.of_rows(made.tocsr())
        self._products[side] = self._arrays(), self._now(), recorded.devices(), form
        return form

    def _dense_product(self, x: ndarray, of: str = "rows") -> Any:
        """The matrix, or its transpose, times an array; None where SciPy has to do it."""
        rows, columns = self._shape if of == "rows" else self._shape[::-1]
        dtype = np.result_type(self.dtype, x.dtype)
        if x.ndim not in (1, 2) or x.shape[0] != columns or dtype not in _RECORDED:
            return None
        if x.size == 0 or rows == 0 or self._is_small(x):
            return None
        one = x.ndim == 2 and x.shape[1] == 1
        result = self._form(of).apply(x.reshape(columns) if one else _shown(x), dtype)
        return result.reshape(rows, 1) if one else result

    def _times(self, other: Any) -> Any:
        """Matrix product with whatever comes."""
        if hasattr(other, "_as_scipy") or scipy_sparse.issparse(other):
            return _bridge.call(lambda a, b: a @ b, self, other)
        if _is_linear_operator(other):
            return NotImplemented
        dense = adopt(other)
        if type(dense) is ndarray and self.ndim == 2:
            result = self._dense_product(dense)
            if result is not None:
                return result
        return _bridge.call(lambda a, b: a @ b, self, dense if type(dense) is ndarray else other)

    def __matmul__(self, other: Any) -> Any:
        if _is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._times(other)

    def __rmatmul__(self, other: Any) -> Any:
        if _is_number(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        if scipy_sparse.issparse(other):
            return _bridge.call(lambda a, b: b @ a, self, other)
        dense = adopt(other)
        if type(dense) is ndarray and self.ndim == 2 and dense.ndim in (1, 2):
            result = self._dense_product(dense.T, "columns")
            if result is not None:
                return result.T
        return _bridge.call(lambda a, b: b @ a, self, other)

    def dot(self, other: Any, out: Any = None) -> Any:
        """The product; with `out`, into that array."""
        result = self * other if _is_number(other) else self._times(other)
        if out is None:
            return result
        if out.shape != result.shape:
            raise ValueError(f"out has shape {out.shape}, the product {result.shape}")
        if not np.can_cast(result.dtype, out.dtype, "same_kind"):
            raise ValueError(f"a product of type {result.dtype} does not go into {out.dtype}")
        out[...] = result
        return out

    # ---- NumPy's functions, and operators of its arrays
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        name = ufunc.__name__
        if len(inputs) == 1:
            function = getattr(self, _UNARY.get(name, name), None)
            if function is None:
                raise TypeError(f"{name} of a sparse matrix would have elements everywhere: A.toarray() has them")
            return function()
        if name not in _BINARY:
            return NotImplemented
        forward, reflected = _BINARY[name]
        if isinstance(inputs[0], _Sparse):
            return getattr(inputs[0], forward)(inputs[1])
        return getattr(self, reflected)(inputs[0])

    # ---- arithmetic
    def _scaled(self, number: Any) -> Any:
        return self._with_data(self.data * number)

    def __mul__(self, other: Any) -> Any:
        if _is_number(other):
            return self._scaled(other)
        return self._times(other) if self._is_matrix else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if _is_number(other):
            return self._scaled(other)
        return self.__rmatmul__(other) if self._is_matrix else self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if not _is_number(other):
            return _bridge.call(lambda a, b: a / b, self, other)
        # SciPy's rule: in double precision, by the reciprocal.
        data = self.data
        if np.can_cast(self.dtype, np.float64):
            data = data.astype(np.float64, copy=False)
        return self._with_data(data * (1.0 / other))

    def __imul__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        self.data *= other
        return self

    def __itruediv__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        self.data *= 1.0 / other
        return self

    def __neg__(self) -> Any:
        if self.dtype == bool:
            return _bridge.call(lambda a: -a, self)
        return self._with_data(-self.data)

    def __pos__(self) -> Any:
        return self.copy()

    def __abs__(self) -> Any:
        return self._with_data(abs(self.data))

    def power(self, n: Any, dtype: Any = None) -> Any:
        if not _is_number(n):
            raise NotImplementedError("input is not scalar")
        if not n:
            return _bridge.call(lambda a: a.power(n, dtype=dtype), self)  # SciPy's words
        data = self.data if dtype is None else self.data.astype(dtype)
        return self._with_data(data**n)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        return self._with_data(self.data.astype(dtype, casting=casting))

    def conjugate(self, copy: bool = True) -> Any:
        if self.dtype.kind != "c":
            return self.copy() if copy else self
        return self._with_data(self.data.conj())

    conj = conjugate

    def copy(self) -> Any:
        other = self._with_data(self.data.copy())
        other._shares_places = False
        for part in self._parts:
            if part != "data":
                setattr(other, part, self._kept(part).copy())
        return other

    # ---- the other way around
    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        return _bridge.call(lambda a: a.transpose(axes=axes, copy=copy), self)

    T = property(lambda self: self.transpose())

    def _hermitian(self) -> Any:
        return self.transpose().conj(copy=False)

    def __setitem__(self, at: Any, value: Any) -> None:
        made = self.to_scipy()
        given: list[ndarray] = []
        made[_bridge.lowered(at, given)] = _bridge.lowered(value, given)
        self._take(made, [])


def _shown(x: ndarray) -> ndarray:
    """An operand that ops can read: of what no box shows, a copy."""
    return x if x._can_show() else x.copy()


def _is_linear_operator(value: Any) -> bool:
    return hasattr(value, "matvec") and hasattr(value, "shape")


class _Compressed(_Sparse):
    _parts, _places = ("data", "indices", "indptr"), ("indices", "indptr")

    @property
    def nnz(self) -> int:
        return int(self._kept("indptr")[-1])

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None and tuple(axes) != (1, 0) or self.ndim != 2:
            return super().transpose(axes, copy)
        other = _CLASSES[{"csr": "csc", "csc": "csr"}[self.format], self._is_matrix]
        turned = other.__new__(other)
        turned._shape = self._shape[::-1]
        for part in self._parts:
            array = self._kept(part)
            setattr(turned, part, array.copy() if copy else array)
        turned._forget()
        turned._shares_places, turned._gave_places = self._shares_places and not copy, self._gave_places
        if not copy:  # and with it all that was found out for products
            turned._products, turned._turned = self._products, not self._turned
        return turned


class _Blocks(_Sparse):
    _parts, _places = ("data", "indices", "indptr"), ("indices", "indptr")


class _Coordinates(_Sparse):
    """`coords` has an array of places for each dimension."""

    _parts, _places = ("data",), ("coords",)

    def _take(self, made: Any, given: list[ndarray], theirs: frozenset[int] = frozenset()) -> None:
        self.coords = tuple(_fallback.raised(np.asarray(one), given, theirs) for one in made.coords)
        super()._take(made, given, theirs)

    def _arrays(self) -> list[ndarray]:
        return [self.data, *self._kept("coords")]

    def _scipy_argument(self, arrays: list[Any]) -> Any:
        return arrays[0], tuple(arrays[1:])

    def copy(self) -> Any:
        other = self._with_data(self.data.copy())
        other._shares_places = False
        other.coords = tuple(one.copy() for one in self._kept("coords"))
        return other

    nnz = property(lambda self: int(self.data.size))
    row = property(lambda self: self.coords[0] if self.ndim > 1 else hnp.zeros_like(self.coords[-1]))
    col = property(lambda self: self.coords[-1])


class _Diagonals(_Sparse):
    _parts, _places = ("data", "offsets"), ("offsets",)


def _places_of(part: str) -> Any:
    return property(lambda self: self._give_places(part), lambda self, value: self.__dict__.update({part: value}))


for _cls in (_Compressed, _Blocks, _Coordinates, _Diagonals):
    for _part in _cls._places:
        setattr(_cls, _part, _places_of(_part))

_DEFINED = {
    "csr": _Compressed, "csc": _Compressed, "coo": _Coordinates, "bsr": _Blocks, "dia": _Diagonals,
}  # fmt: skip
_CLASSES: dict[tuple[str, bool], type] = {}

# Functions of each element that leave 0 as it is.
_OF_ELEMENTS = ("sin tan arcsin arctan sinh tanh arcsinh arctanh rint sign expm1 log1p deg2rad rad2deg "
                "floor ceil trunc sqrt").split()  # fmt: skip
# What changes the matrix itself.
_IN_PLACE = frozenset(("sort_indices sum_duplicates eliminate_zeros prune setdiag resize".split()))
_OPERATORS = ("__getitem__ __add__ __radd__ __sub__ __rsub__ __rtruediv__ __pow__ __eq__ __ne__ "
              "__lt__ __le__ __gt__ __ge__ __div__ __rdiv__ __round__").split()  # fmt: skip


def _of_elements(name: str) -> Any:
    function = getattr(hnp, name)
    return lambda self: self._with_data(function(self.data))


def _by_scipy(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _bridge.call(lambda m, *a, **k: getattr(m, name)(*a, **k), self, *args, **kwargs)

    method.__name__ = name
    return method


def _in_place(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        made, given = self.to_scipy(), []
        result = getattr(made, name)(*_bridge.lowered(args, given), **_bridge.lowered(kwargs, given))
        self._take(made, [])
        return result

    method.__name__ = name
    return method


def _property_of(name: str) -> Any:
    def read(self: Any) -> Any:
        return _bridge.call(lambda m: getattr(m, name), self)

    def write(self: Any, value: Any) -> None:
        setattr(self._as_scipy(), name, value)

    return property(read, write)


def _same_places(a: Any, b: Any) -> bool:
    """Whether both have their elements in the same arrays of places."""
    if type(a) is not type(b) or a._shape != b._shape:
        return False
    places = [part for part in a._arrays() if part is not a.data]
    others = [part for part in b._arrays() if part is not b.data]
    return all(x is y for x, y in zip(places, others)) and a.data.shape == b.data.shape


def _sum_or_difference(name: str) -> Any:
    by_scipy = _by_scipy(name)

    def method(self: Any, other: Any) -> Any:
        # Values of one structure are added where they are: nothing has to be read for that.
        if _same_places(self, other) and (self.data._pending or other.data._pending):
            return self._with_data(getattr(self.data, name)(other.data))
        return by_scipy(self, other)

    return method


def _complete(cls: type, scipy_class: type) -> None:
    """Gives a class all that SciPy's has and it has not."""
    defined = {name for base in cls.__mro__[:-1] for name in vars(base)} - {"__hash__"}
    for name in dir(scipy_class):
        if name in defined or (name.startswith("_") and name not in _OPERATORS):
            continue
        attribute = getattr(scipy_class, name)
        if name in _OF_ELEMENTS and hasattr(hnp, name):
            setattr(cls, name, _of_elements(name))
        elif name in _IN_PLACE:
            setattr(cls, name, _in_place(name))
        elif name in ("__add__", "__sub__"):
            setattr(cls, name, _sum_or_difference(name))
        elif callable(attribute):
            setattr(cls, name, _by_scipy(name))
        elif name not in ("T", "H"):
            setattr(cls, name, _property_of(name))
    if hasattr(scipy_class, "getH"):
        cls.getH = _Sparse._hermitian
        cls.H = property(_Sparse._hermitian)


def _make_classes() -> None:
    for format, base in _DEFINED.items():
        for kind in ("array", "matrix"):
            name = f"{format}_{kind}"
            scipy_class = getattr(scipy_sparse, name)
            cls = type(name, (spmatrix if kind == "matrix" else sparray, base),
                       {"_scipy_class": scipy_class, "format": format, "_is_matrix": kind == "matrix",
                        "__module__": "heddle.sparse", "__doc__": scipy_class.__doc__})  # fmt: skip
            _complete(cls, scipy_class)
            _CLASSES[format, kind == "matrix"] = _bridge.ours[scipy_class] = cls


class sparray(_Sparse):
    """What formats with the meaning of NumPy's arrays have: `*` goes element by element."""


class spmatrix(_Sparse):
    """What formats with the meaning of NumPy's matrix have: `*` is the product of matrices."""

    def __pow__(self, n: Any) -> Any:
        return _bridge.call(lambda a: a**n, self)


_make_classes()
csr_array, csr_matrix = _CLASSES["csr", False], _CLASSES["csr", True]
csc_array, csc_matrix = _CLASSES["csc", False], _CLASSES["csc", True]
coo_array, coo_matrix = _CLASSES["coo", False], _CLASSES["coo", True]
bsr_array, bsr_matrix = _CLASSES["bsr", False], _CLASSES["bsr", True]
dia_array, dia_matrix = _CLASSES["dia", False], _CLASSES["dia", True]
