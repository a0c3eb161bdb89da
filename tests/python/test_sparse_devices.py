"""Sparse matrices on several devices, dealt out by rows: SciPy's results, and halos of what is needed only."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as scipy_sparse
import scipy.sparse.linalg as scipy_linalg
import test_sparse

import heddle.numpy as hnp
import heddle.sparse as sparse
import heddle.sparse.linalg as linalg
from heddle._core import _recorded as recorded
from heddle.sparse import _product

HEDDLE = os.environ.get("HEDDLE", "heddle")


@pytest.fixture(autouse=True)
def one_device_again(all_recorded):
    yield
    recorded.set_devices(1)


def laplacian(grid):
    line = scipy_sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(grid, grid))
    same = scipy_sparse.eye_array(grid)
    return scipy_sparse.csr_array(scipy_sparse.kron(line, same) + scipy_sparse.kron(same, line))


def along_a_line(rng, rows, columns, dtype):
    """Elements near the diagonal, of which blocks need little of each other; some twice."""
    row = rng.integers(0, rows, 3 * rows)
    column = np.clip(row * columns // rows + rng.integers(-4, 5, len(row)), 0, columns - 1)
    return scipy_sparse.csr_array((test_sparse.values(rng, len(row), dtype), (row, column)), shape=(rows, columns))


def test_products_equal_scipys():
    local = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        recorded.set_devices(2 + seed % 7, 0)
        dtype = ("f8", "i8", "c16")[seed % 3]
        theirs = along_a_line(rng, *rng.integers(30, 90, 2), dtype) if seed % 2 else test_sparse.matrix(rng, dtype)
        ours = sparse.csr_array(theirs)
        x = test_sparse.values(rng, (theirs.shape[1], 2), dtype)
        test_sparse.same(ours @ hnp.asarray(x), theirs @ x)
        test_sparse.same(ours @ hnp.asarray(x[:, 0]), theirs @ x[:, 0])
        form = ours._form("rows")
        local += isinstance(form, _product.Rows) and form.parameters["local"] == [1]
    assert local >= 2


def sent_by_a_product(ours, x):
    ours @ x  # the matrix goes where it belongs
    hnp.flush()
    before = hnp.counts()["bytes_sent"]
    y = ours @ x
    hnp.flush()
    assert y._store_is_spread() and x._store_is_spread()
    return y, hnp.counts()["bytes_sent"] - before


@pytest.mark.parametrize("most_bands", (48, 0), ids=("bands", "rows"))
def test_a_laplacian_sends_two_rows_of_its_grid(most_bands, monkeypatch):
    monkeypatch.setattr(_product, "_MOST_BANDS", most_bands)
    grid = 24
    recorded.set_devices(4, 0)
    theirs = laplacian(grid)
    numbers = np.arange(grid * grid) % 7.0
    x = hnp.asarray(numbers) * 1.0
    y, sent = sent_by_a_product(sparse.csr_array(theirs), x)
    assert sent == 2 * grid * 8
    test_sparse.same(y, theirs @ numbers)


def test_no_nan_comes_around_the_end():
    recorded.set_devices(3, 0)
    theirs = laplacian(6)
    x = np.ones(36)
    x[[0, -1]] = np.inf, np.nan
    test_sparse.same(sparse.csr_array(theirs) @ hnp.asarray(x), theirs @ x)


def test_forms_follow_the_number_of_devices():
    theirs = laplacian(8)
    ours, x = sparse.csr_array(theirs), np.arange(64.0)
    for count in (1, 3, 2):
        recorded.set_devices(count, 0)
        test_sparse.same(ours @ hnp.asarray(x), theirs @ x)
        assert ours._form("rows").parameters["blocks"] == [count]


def test_a_solver():
    recorded.set_devices(4, 0)
    theirs, b = laplacian(10), np.arange(100) % 3.0
    got, info = linalg.cg(sparse.csr_array(theirs), hnp.asarray(b), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(np.asarray(got), scipy_linalg.spsolve(theirs.tocsc(), b), rtol=1e-7)


PROGRAM = """
import numpy, scipy.sparse
import heddle.numpy as np
import heddle.sparse as sparse
n = 70_000
A = sparse.diags([-1.0, 4.0, -1.5], [-300, 0, 2], shape=(n, n), format="csr")
x = np.arange(n) % 5.0
for turn in range(3):
    x = A @ x / 4
want = numpy.arange(n) % 5.0
for turn in range(3):
    want = A.to_scipy() @ want / 4
print(numpy.allclose(numpy.asarray(x), want), np.counts()["bytes_sent"] == 3 * 302 * 8)
"""


def test_ranks(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([HEDDLE, "launch", "-n", "2", sys.executable, str(tmp_path / "program.py")],
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")[:-1]) == ["[0] True True", "[1] True True"]
