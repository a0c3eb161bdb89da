# mypy: ignore-errors
from legate_sparse import mmread as mmread
