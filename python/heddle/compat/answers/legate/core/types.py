# mypy: ignore-errors
"""Element types by Legate's names."""

import numpy as _np

bool_ = _np.dtype(bool)
int8, int16, int32, int64 = map(_np.dtype, ("i1", "i2", "i4", "i8"))
uint8, uint16, uint32, uint64 = map(_np.dtype, ("u1", "u2", "u4", "u8"))
float16, float32, float64 = map(_np.dtype, ("f2", "f4", "f8"))
complex64, complex128 = map(_np.dtype, ("c8", "c16"))
