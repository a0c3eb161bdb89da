# mypy: ignore-errors
from legate_sparse import diags as diags
