# mypy: ignore-errors
from legate_sparse._arrays import dia_array as dia_array, dia_matrix as dia_matrix
