# mypy: ignore-errors
from legate_sparse import coord_ty as coord_ty, nnz_ty as nnz_ty  # noqa: F401
