# mypy: ignore-errors
from legate_sparse import *  # noqa: F401,F403
from legate_sparse import coord_ty as coord_ty, diags as diags, mmread as mmread, nnz_ty as nnz_ty  # noqa: F401
