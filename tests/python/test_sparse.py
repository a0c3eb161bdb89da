"""heddle.sparse beside SciPy: every format and type, what is recorded and what is SciPy's."""

import pickle

import numpy as np
import pytest
import scipy.sparse as scipy_sparse
import scipy.sparse.linalg as scipy_linalg

import heddle.numpy as hnp
import heddle.sparse as sparse
import heddle.sparse.linalg as linalg
from heddle._core import _recorded as recorded

FORMATS = ("csr", "csc", "coo", "bsr", "dia")
TYPES = ("f4", "f8", "c8", "c16", "i4", "i8", "u1")


@pytest.fixture(params=(True, False), ids=("recorded", "at_once"))
def everything_recorded(request):
    before = recorded.at_once()
    recorded.set_at_once(0 if request.param else before)
    yield
    recorded.set_at_once(before)


def values(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(1, 9, shape).astype(dtype)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype.kind == "c" else real).astype(dtype)


def matrix(rng, dtype="f8", shape=None, kind=None):
    """One of a few kinds of structure: few diagonals, rows alike, rows of all lengths, holes and duplicates."""
    rows, columns = shape or rng.integers(2, 40, 2)
    kind = kind or rng.choice(["bands", "alike", "any", "long", "empty", "dense"])
    if kind == "bands":
        offsets = np.unique(rng.integers(-min(rows, 5) + 1, min(columns, 5), 3))
        made = scipy_sparse.diags([values(rng, max(rows, columns), dtype)[: min(rows + min(o, 0), columns - max(o, 0))]
                                   for o in offsets], offsets, shape=(rows, columns), dtype=dtype)  # fmt: skip
    elif kind == "empty":
        made = scipy_sparse.coo_array((rows, columns), dtype=dtype)
    else:
        density = {"alike": 0.3, "any": 0.1, "long": 0.05, "dense": 1.0}[kind]
        chosen = rng.random((rows, columns)) < density
        if kind == "long":
            chosen[rng.integers(rows)] = True
        made = scipy_sparse.coo_array(np.where(chosen, values(rng, (rows, columns), dtype), 0).astype(dtype))
    return scipy_sparse.csr_array(made)


def in_format(made, format):
    ours = getattr(sparse, f"{format}_array")(made)
    theirs = getattr(scipy_sparse, f"{format}_array")(made)
    return ours, theirs


def same(ours, theirs, exact=False):
    """Also the type, for arrays and matrices alike."""
    if scipy_sparse.issparse(theirs):
        assert ours.format == theirs.format and ours.shape == theirs.shape
        assert isinstance(ours, sparse.sparray) == isinstance(theirs, scipy_sparse.sparray)
        ours, theirs = ours.toarray(), theirs.toarray()
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if exact or theirs.dtype.kind in "iub":
        np.testing.assert_array_equal(ours, theirs)
    else:
        accuracy = 1e-4 if theirs.dtype.char in "fF" else 1e-11
        np.testing.assert_allclose(ours, theirs, rtol=accuracy, atol=accuracy)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", TYPES)
def test_products_equal_scipys(format, dtype, everything_recorded):
    rng = np.random.default_rng(FORMATS.index(format) * 100 + TYPES.index(dtype))
    for _ in range(3):
        ours, theirs = in_format(matrix(rng, dtype), format)
        rows, columns = theirs.shape
        x, y = values(rng, columns, rng.choice(TYPES)), values(rng, rows, dtype)
        wide = values(rng, (columns, 3), dtype)
        same(ours @ hnp.asarray(x), theirs @ x)
        same(ours @ x, theirs @ x)
        same(hnp.asarray(y) @ ours, y @ theirs)
        same(y @ ours, y @ theirs)
        same(ours @ hnp.asarray(wide), theirs @ wide)
        same(ours @ hnp.asarray(x).reshape(-1, 1), theirs @ x.reshape(-1, 1))
        same(ours.T @ hnp.asarray(y), theirs.T @ y)
        other = matrix(rng, dtype, shape=(columns, 4))
        same(ours @ sparse.csr_array(other), theirs @ other)


def test_forms_are_chosen_by_structure(all_recorded):
    stencil = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(50, 50), format="csr")
    assert stencil._form("rows").parameters["kinds"] == [2, 2, 2]  # numbers
    stencil.data[4] = 9
    assert stencil._form("rows").parameters["kinds"] == [2, 2, 0]
    holed = sparse.csr_array(np.where(np.arange(50) == 7, 0, np.eye(50)))
    assert holed._form("rows").parameters["kinds"] == [3]
    symmetric = sparse.diags([np.arange(1.0, 46), np.arange(1.0, 51), np.arange(1.0, 46)], [-5, 0, 5], format="csr")
    form = symmetric._form("rows")
    assert form.parameters["kinds"] == [0, 0, 4] and len(form.operands) == 2
    symmetric.data[1] += 1
    assert symmetric._form("rows").parameters["kinds"] == [0, 0, 0]
    rng = np.random.default_rng(1)
    mixed = sparse.csr_array(matrix(rng, shape=(60, 60), kind="long"))
    assert len(mixed._form("rows").groups) > 1


@pytest.mark.parametrize("dtype", ("f8", "c16", "i4"))
@pytest.mark.parametrize("holes", (False, True))
def test_products_of_symmetric_matrices(dtype, holes, all_recorded):
    rng = np.random.default_rng(3)
    half = np.triu(np.tril(rng.integers(1, 9, (40, 40)), 7) * (rng.random((40, 40)) > 0.1 * holes), 0)
    theirs = scipy_sparse.csr_array((half + np.triu(half, 1).T).astype(dtype))
    ours = sparse.csr_array(theirs)
    assert any(kind >= 4 for kind in ours._form("rows").parameters["kinds"])
    x = rng.integers(-9, 9, 40).astype(dtype)
    same(ours @ hnp.asarray(x), theirs @ x)
    wide = rng.integers(-9, 9, (40, 3)).astype(dtype)
    same(ours @ hnp.asarray(wide), theirs @ wide)


@pytest.mark.parametrize("kind", ("bands", "alike", "long"))
def test_no_nan_where_no_element_is(kind, all_recorded):
    rng = np.random.default_rng(2)
    theirs = matrix(rng, shape=(30, 30), kind=kind)
    if kind == "bands":  # a hole inside of a diagonal
        theirs = scipy_sparse.csr_array(scipy_sparse.diags([1.0, 2.0], [0, 1], shape=(30, 30)))
        theirs[4, 5] = 0
        theirs.eliminate_zeros()
    x = rng.standard_normal(30)
    x[[5, 7]] = np.inf, np.nan
    same(sparse.csr_array(theirs) @ hnp.asarray(x), theirs @ x)
    theirs.data[3] = 0  # one that is stored does count
    same(sparse.csr_array(theirs) @ hnp.asarray(x), theirs @ x)


def test_writes_to_the_arrays_are_seen(all_recorded):
    rng = np.random.default_rng(3)
    theirs = matrix(rng, shape=(40, 40), kind="any")
    ours, x = sparse.csr_array(theirs), rng.standard_normal(40)
    ours @ x
    ours.data[0] = 100.0
    theirs.data[0] = 100.0
    same(ours @ x, theirs @ x)
    ours.data *= 3.0
    theirs.data *= 3.0
    same(ours @ x, theirs @ x)
    turned = ours.T
    ours.data[1:3] = 7.0
    theirs.data[1:3] = 7.0
    same(turned @ x, theirs.T @ x)
    ours.data = hnp.ones(ours.nnz)
    theirs.data = np.ones(theirs.nnz)
    same(ours @ x, theirs @ x)
    same(ours, theirs)
    ours[2, 3] = 5.0
    theirs[2, 3] = 5.0
    same(ours @ x, theirs @ x)


def test_memory_of_the_caller_is_not_shared():
    data, indices, indptr = np.ones(3), np.array([0, 1, 2], np.int32), np.array([0, 1, 2, 3], np.int32)
    ours = sparse.csr_array((data, indices, indptr), shape=(3, 3))
    data[:] = 9
    same(ours.toarray(), np.eye(3))
    theirs = scipy_sparse.csr_array(np.eye(3))
    ours = sparse.csr_array(theirs)
    theirs.data[:] = 5
    ours.data[0] = 2
    same(ours.toarray(), np.diag([2.0, 1, 1]))
    assert theirs[0, 0] == 5


@pytest.mark.parametrize("format", FORMATS)
def test_everything_else_equals_scipys(format, everything_recorded):
    rng = np.random.default_rng(4)
    for dtype in ("f8", "c16", "i8"):
        ours, theirs = in_format(matrix(rng, dtype, shape=(9, 9), kind="any"), format)
        other_ours, other = in_format(matrix(rng, dtype, shape=(9, 9), kind="any"), format)
        for f in (
            lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a.multiply(b),
            lambda a, b: -a, lambda a, b: abs(a), lambda a, b: a * 3, lambda a, b: 2.5 * a,
            lambda a, b: a / 4, lambda a, b: a.power(2), lambda a, b: a.T, lambda a, b: a.conj(),
            lambda a, b: a.astype("c16"), lambda a, b: a.copy(), lambda a, b: a.tocsr(),
            lambda a, b: a.tocsc(), lambda a, b: a.tocoo(), lambda a, b: a.todia(),
            lambda a, b: a.toarray(), lambda a, b: a.todense(), lambda a, b: a.sum(axis=0),
            lambda a, b: a.diagonal(), lambda a, b: a.mean(axis=1), lambda a, b: a.reshape(3, 27),
            lambda a, b: a.nonzero()[0], lambda a, b: a.trace(), lambda a, b: a.sum(),
            lambda a, b: a.tobsr(), lambda a, b: a @ b, lambda a, b: a.dot(b), lambda a, b: a.real,
            lambda a, b: (a != b).astype("i4"),
        ):  # fmt: skip
            same(f(ours, other_ours), f(theirs, other))
        if dtype == "f8" and format != "dia":
            for name in ("sin", "expm1", "floor", "sign", "tanh", "rint"):
                same(getattr(ours, name)(), getattr(theirs, name)())
        if format in ("csr", "csc"):
            for at in ((slice(2, 5),), (slice(None), 3), ([1, 4], slice(None)), (slice(None, None, 2), slice(1, 6))):
                same(ours[at], theirs[at])
            assert ours[3, 4] == theirs[3, 4] and ours.nnz == theirs.nnz


def test_matrices_multiply_by_the_star():
    ours, theirs = sparse.csr_matrix(np.eye(3) * 2), scipy_sparse.csr_matrix(np.eye(3) * 2)
    same(ours * hnp.ones(3), theirs * np.ones(3))
    assert sparse.isspmatrix_csr(ours) and sparse.issparse(ours)
    assert not isinstance(ours, sparse.sparray)
    same((ours * ours).toarray(), (theirs * theirs).toarray())
    same((ours**3).toarray(), (theirs**3).toarray())


def test_construction_and_other_functions():
    rng = np.random.default_rng(5)
    a, b = matrix(rng, shape=(4, 5), kind="any"), matrix(rng, shape=(4, 5), kind="any")
    ours, others = sparse.csr_array(a), sparse.csr_array(b)
    same(sparse.kron(ours, others, format="csr"), scipy_sparse.kron(a, b, format="csr"))
    same(sparse.vstack([ours, others], format="csr"), scipy_sparse.vstack([a, b], format="csr"))
    same(sparse.hstack([ours, others], format="csr"), scipy_sparse.hstack([a, b], format="csr"))
    same(sparse.block_array([[ours, None], [None, others]], format="csr"),
         scipy_sparse.block_array([[a, None], [None, b]], format="csr"))  # fmt: skip
    same(sparse.eye(4, 6, k=1, format="csr"), scipy_sparse.eye(4, 6, k=1, format="csr"))
    same(sparse.tril(ours, format="csr"), scipy_sparse.tril(a, format="csr"))
    same(sparse.random(8, 9, 0.3, random_state=3), scipy_sparse.random(8, 9, 0.3, random_state=3))
    data, row, col = np.array([4.0, 5, 7, 1]), np.array([0, 3, 1, 0]), np.array([0, 3, 1, 0])
    same(sparse.coo_array((hnp.asarray(data), (hnp.asarray(row), hnp.asarray(col))), shape=(4, 4)).tocsr(),
         scipy_sparse.coo_array((data, (row, col)), shape=(4, 4)).tocsr())  # fmt: skip
    same(sparse.csr_array((data, (row, col)), shape=(4, 4), dtype="f4"),
         scipy_sparse.csr_array((data, (row, col)), shape=(4, 4), dtype="f4"))  # fmt: skip
    same(sparse.dia_array((np.array([[1.0, 2, 3], [4, 5, 6]]), [0, -1]), shape=(3, 3)),
         scipy_sparse.dia_array((np.array([[1.0, 2, 3], [4, 5, 6]]), [0, -1]), shape=(3, 3)))  # fmt: skip
    same(pickle.loads(pickle.dumps(ours)), a)
    unsorted = sparse.csr_array((np.array([1.0, 2, 3]), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    unsorted.sum_duplicates()
    assert unsorted.nnz == 2 and unsorted.has_sorted_indices


def definite(rng, dtype="f8", size=60):
    base = matrix(rng, dtype, shape=(size, size), kind="any")
    made = base + base.conj().T + 12 * scipy_sparse.eye_array(size, dtype=dtype)
    return scipy_sparse.csr_array(made.astype(dtype))


@pytest.mark.parametrize("dtype", ("f8", "c16", "f4"))
@pytest.mark.parametrize("name", ("cg", "bicg", "bicgstab", "cgs", "gmres"))
def test_solvers(name, dtype, everything_recorded):
    rng = np.random.default_rng(6)
    A = definite(rng, dtype)
    b, start = values(rng, 60, dtype), values(rng, 60, dtype)
    rtol = 1e-4 if dtype == "f4" else 1e-9
    inverse = scipy_sparse.diags_array(1 / A.diagonal()).tocsr()
    solve = getattr(linalg, name)
    for more in ({}, {"x0": start}, {"M": inverse}):
        x, info = solve(sparse.csr_array(A), hnp.asarray(b), rtol=rtol, **more)
        x = np.asarray(x)
        assert info == 0 and x.dtype == np.dtype(dtype)
        assert np.linalg.norm(b - A @ x) <= 3 * rtol * np.linalg.norm(b)
    theirs = getattr(scipy_linalg, name)(A, b, rtol=rtol)[0]
    np.testing.assert_allclose(np.asarray(solve(sparse.csr_array(A), b, rtol=rtol)[0]), theirs,
                               rtol=0, atol=100 * rtol * np.abs(theirs).max())  # fmt: skip
    x, info = solve(sparse.csr_array(A), np.zeros(60, dtype))
    assert info == 0 and not np.asarray(x).any()
    x, info = solve(sparse.csr_array(A), b, rtol=1e-30, maxiter=2)
    assert info == 2


def test_solvers_take_operators_and_tell_of_turns(all_recorded):
    rng = np.random.default_rng(7)
    A = definite(rng)
    ours, b, seen = sparse.csr_array(A), rng.standard_normal(60), []
    operator = linalg.LinearOperator(A.shape, matvec=lambda x: ours @ x, dtype=float)
    x, info = linalg.cg(operator, hnp.asarray(b), rtol=1e-10, callback=lambda x: seen.append(float(x[0])))
    theirs = []
    scipy_linalg.cg(A, b, rtol=1e-10, callback=lambda x: theirs.append(x[0]))
    assert info == 0
    np.testing.assert_allclose(seen, theirs, rtol=1e-9)  # as many turns, and the same
    both = 2 * operator + operator @ operator
    same(both.matvec(hnp.asarray(b)), 2 * (A @ b) + A @ (A @ b))
    same(linalg.aslinearoperator(ours).H.matvec(hnp.asarray(b)), A.T @ b)


def test_least_squares_and_norms(everything_recorded):
    rng = np.random.default_rng(8)
    A = matrix(rng, shape=(50, 20), kind="alike")
    b = rng.standard_normal(50)
    for more in ({}, {"damp": 0.5}, {"x0": rng.standard_normal(20)}):
        ours = linalg.lsqr(sparse.csr_array(A), hnp.asarray(b), atol=1e-9, btol=1e-9, **more)
        theirs = scipy_linalg.lsqr(A, b, atol=1e-9, btol=1e-9, **more)
        np.testing.assert_allclose(np.asarray(ours[0]), theirs[0], rtol=1e-6, atol=1e-8)
        assert ours[1] == theirs[1] and abs(ours[2] - theirs[2]) <= 1
        np.testing.assert_allclose(ours[3:5], theirs[3:5], rtol=1e-6)
    for order in (None, "fro", 1, np.inf):
        np.testing.assert_allclose(float(linalg.norm(sparse.csr_array(A), order)), scipy_linalg.norm(A, order))
    square = definite(rng)
    b = rng.standard_normal(60)
    np.testing.assert_allclose(np.asarray(linalg.spsolve(sparse.csc_array(square), hnp.asarray(b))),
                               scipy_linalg.spsolve(square.tocsc(), b))  # fmt: skip


def test_a_turn_of_conjugate_gradients_is_few_launches(all_recorded):
    n = 40
    A = sparse.csr_array(scipy_sparse.kronsum(*[scipy_sparse.diags([-1.0, 2, -1], [-1, 0, 1], shape=(n, n))] * 2))
    b = hnp.ones(n * n)
    linalg.cg(A, b, maxiter=5, rtol=0)
    before = hnp.counts()
    linalg.cg(A, b, maxiter=15, rtol=0)
    after = hnp.counts()
    assert after["launches"] - before["launches"] <= 15 * 3 + 6
    assert after["windows"] - before["windows"] <= 15 + 4


def test_wrong_use():
    A = sparse.csr_array(np.eye(3))
    with pytest.raises(ValueError):
        A @ hnp.ones(4)
    with pytest.raises(ValueError):
        A @ 3
    with pytest.raises(ValueError):
        sparse.csr_array((np.ones(2), np.array([0, 5]), np.array([0, 1, 2])), shape=(2, 2))
    broken = sparse.csr_array(np.eye(3))
    broken.indices[1] = 7
    with pytest.raises(ValueError):
        broken._form("rows")
    with pytest.raises(ValueError):
        linalg.cg(sparse.csr_array(np.ones((2, 3))), np.ones(2))
    with pytest.raises(ValueError):
        linalg.cg(A, np.ones(4))
    with pytest.raises(ValueError):
        linalg.cg(A, np.ones(3), atol=-1)
    with pytest.raises(ValueError):
        A.dot(hnp.ones(3), out=hnp.ones(4))
    with pytest.raises(NotImplementedError):
        linalg.LinearOperator((3, 3), matvec=lambda x: x).rmatvec(np.ones(3))
    with pytest.raises(TypeError):
        len(A)
    with pytest.raises(IndexError):
        A[5, 0]


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_made_of_a_matrix_has_places_of_its_own(format, everything_recorded):
    places = {"coo": "row", "dia": "offsets"}.get(format, "indices")
    for was_given in (False, True):
        ours, theirs = in_format(scipy_sparse.csr_array(np.diag([1.0, 2, 3])), format)
        if was_given:
            held = getattr(ours, places), getattr(theirs, places)
        pair = [(made, made * 2) for made in (ours, theirs)]
        for number, (made, twice) in enumerate(pair):
            if was_given:
                held[number][0] = 1
            else:
                getattr(twice, places)[0] = 1
        same(pair[0][0].toarray(), pair[1][0].toarray())
        same(pair[0][1].toarray(), pair[1][1].toarray())
    same(ours @ np.ones(3), theirs @ np.ones(3))


def test_functions_of_numpy(everything_recorded):
    rng = np.random.default_rng(9)
    theirs = matrix(rng, shape=(7, 7), kind="any")
    ours, x = sparse.csr_array(theirs), rng.standard_normal(7)
    for module in (np, hnp):
        same(module.sqrt(abs(ours)), np.sqrt(abs(theirs)))
        same(module.sin(ours), np.sin(theirs))
        same(module.negative(ours), -theirs)
        same(module.matmul(ours, x), theirs @ x)
        same(module.matmul(x, ours), x @ theirs)
        same(module.sum(ours), np.sum(theirs))
        with pytest.raises(TypeError, match="exp"):
            module.exp(ours)
    for one in (x, hnp.asarray(x)):
        same(one @ ours, x @ theirs)
        same(one + ours, x + theirs)
        same(one - ours, x - theirs)
        same(one * ours, x * theirs)


def counted(lib, name, A, b, **more):
    seen = []
    x, info = getattr(lib, name)(A, b, callback=lambda v: seen.append(float(np.linalg.norm(np.asarray(v)))), **more)
    return np.asarray(x), info, seen


@pytest.mark.parametrize("kind", ("legacy", "pr_norm", "x"))
@pytest.mark.parametrize("maxiter", (None, 1, 3, 7))
def test_gmres_counts_as_scipys(kind, maxiter):
    rng = np.random.default_rng(10)
    A, b = definite(rng), values(rng, 60, "f8")
    more = {"rtol": 1e-10, "restart": 4, "maxiter": maxiter, "callback_type": kind}
    x, info, seen = counted(linalg, "gmres", sparse.csr_array(A), hnp.asarray(b), **more)
    want, want_info, want_seen = counted(scipy_linalg, "gmres", A, b, **more)
    assert info == want_info and len(seen) == len(want_seen)
    np.testing.assert_allclose(seen, want_seen, rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(x, want, atol=1e-6)
    more = {"rtol": 1e-10, "restart": 4, "maxiter": maxiter}
    assert linalg.gmres(sparse.csr_array(A), b, **more)[1] == scipy_linalg.gmres(A, b, **more)[1]


@pytest.mark.parametrize("name", ("cg", "bicg", "bicgstab", "cgs", "gmres"))
def test_solvers_end_as_scipys(name):
    ours, theirs = getattr(linalg, name), getattr(scipy_linalg, name)
    columns = definite(np.random.default_rng(11)), np.ones((60, 1))
    assert ours(sparse.csr_array(columns[0]), columns[1])[0].shape == theirs(*columns)[0].shape == (60,)
    turned, empty = np.array([[0.0, 1], [-1, 0]]), np.zeros((2, 2))
    lost = np.array([1.0, np.nan])
    for made, b in ((turned, [1.0, 0]), (empty, [1.0, 1]), (np.eye(2), lost)):
        with np.errstate(all="ignore"):
            want, want_info = theirs(scipy_sparse.csr_array(made), np.array(b), maxiter=3)
        for callback in (None, lambda x: None):
            more = {} if callback is None else {"callback": callback}
            x, info = ours(sparse.csr_array(made), np.array(b), maxiter=3, **more)
            assert info == want_info
            if name != "gmres":
                np.testing.assert_array_equal(np.asarray(x), want)


def test_classes_and_graphs_of_scipy_take_matrices_of_ours():
    a = sparse.csr_array(np.diag([1.0, 2.0, 3.0]))
    for cls in (sparse.lil_array, sparse.dok_array):
        assert isinstance(cls(a), cls) and cls(a).toarray().tolist() == a.toarray().tolist()
    count, labels = sparse.csgraph.connected_components(a)
    assert count == 3 and type(labels) is hnp.ndarray
