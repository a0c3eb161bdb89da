# mypy: ignore-errors
from legate_sparse._arrays import csr_array as csr_array, csr_matrix as csr_matrix, geam as geam, spmv as spmv
