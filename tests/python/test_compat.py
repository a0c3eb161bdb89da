"""heddle.compat: programs for cuPyNumeric, Legate and Legate Sparse, run unchanged."""

import io
import os
import pathlib
import re
import subprocess
import sys

import numpy
import pytest

import heddle.compat

heddle.compat.install()
SHARED = pathlib.Path(__file__).parents[2].parent / "shared" / "conformance"
EXAMPLES = SHARED / "cupynumeric_examples"
needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"there is no {EXAMPLES}")
needs_sparse = pytest.mark.skipif(not (SHARED / "legate_sparse").is_dir(), reason="no tests of Legate Sparse")


def run(program, *arguments, module=False):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "heddle.compat", *(["-m"] if module else []), str(program)]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=600, env=environment,
                          cwd=None if module else pathlib.Path(program).parent)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def numbers(text):
    """All that a program prints but times and its header."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    text = re.sub(r"Elapsed Time: *[\d.e+-]+|(?m:^.*(FLOPS|milliseconds|Average|numpy|cupynumeric).*$)", "", "\n".join(lines))
    return [float(one) for one in re.findall(r"-?\d+\.\d+(?:e[+-]?\d+)?", text)]


@needs_examples
@pytest.mark.parametrize("name, arguments", (
    ("cfd", "-x 120 -y 120 -i 3 -n 4"),
    ("linreg", "-i 60 -n 20"),
    ("kmeans_slow", "-n 12 -i 20"),
))  # fmt: skip
def test_examples_print_what_numpy_gives(name, arguments, tmp_path):
    program = tmp_path / "seeded.py"  # the same random numbers for both
    program.write_text("import numpy, runpy, sys\nnumpy.random.seed(1)\nsys.argv = sys.argv[1:]\n"
                       "sys.path.insert(0, sys.argv[0].rpartition('/')[0])\n"
                       "runpy.run_path(sys.argv[0], run_name='__main__')\n")  # fmt: skip
    arguments = [str(EXAMPLES / f"{name}.py"), *arguments.split()]
    ours = numbers(run(program, *arguments))
    theirs = numbers(run(program, *arguments, "--package", "numpy"))
    assert len(ours) > 0
    numpy.testing.assert_allclose(ours, theirs, rtol=2e-3 if name != "cfd" else 1e-10)


@needs_examples
@pytest.mark.parametrize("name, arguments", (
    ("cg", "-n 12 --check"), ("cg", "-n 12 --check --pre"), ("jacobi", "-n 150 -i 20 --check"), ("stencil", "-n 150 -i 20"),
    ("black_scholes", "-n 20"), ("einsum", ""), ("lstm_forward", ""), ("richardson_lucy", "-i 2"), ("scan", ""),
))  # fmt: skip
def test_examples_run(name, arguments):
    text = run(EXAMPLES / f"{name}.py", *arguments.split())
    assert "FAIL" not in text and "nan" not in text
    assert "PASS!" in text or name != "cg"


@needs_sparse
def test_solver_of_a_differential_equation():
    text = run(SHARED / "legate_sparse/examples/pde.py", "-n", "100", "-m", "100")
    assert "CG converged" in text


@needs_sparse
@pytest.mark.parametrize("name", ("csr_from_coo", "diags", "spgemm", "spmv"))
def test_of_legate_sparse(name):
    text = run("pytest", "-q", "-p", "no:cacheprovider", str(SHARED / f"legate_sparse/tests/integration/test_{name}.py"),
               module=True)  # fmt: skip
    assert "passed" in text


def test_modules_by_their_names():
    import cunumeric
    import cupynumeric
    import legate.numpy
    import legate_sparse
    from cupynumeric.settings import settings
    from legate.core import TaskTarget, get_legate_runtime, get_machine, track_provenance
    from legate.timing import time
    from legate.util.settings import SettingBase

    import heddle.numpy

    assert cupynumeric.__name__ == "cupynumeric" and cunumeric.ndarray is heddle.numpy.ndarray
    assert cupynumeric.ndarray((2, 3)).shape == (2, 3) and legate.numpy.zeros(2).shape == (2,)
    assert isinstance(settings.warn, SettingBase) and settings.warn() is False
    machine = get_machine()
    assert machine.count(TaskTarget.GPU) == 0 and len(machine.only(TaskTarget.CPU)) == machine.count()
    get_legate_runtime().issue_execution_fence(block=True)
    assert time() <= time() and time("ns") > 0
    assert track_provenance(nested=True)(abs) is not None and track_provenance(abs) is abs
    assert legate_sparse.coord_ty == numpy.int64


def test_rules_of_legate_sparse():
    import cupynumeric as np
    import legate_sparse as sparse
    from legate_sparse import linalg

    dense = numpy.array([[1.0, 2, 0], [3, 0, 4]])
    A = sparse.csr_array(dense)
    assert isinstance(A.T, sparse.csr_array) and isinstance(A @ A.T, sparse.csr_array)
    numpy.testing.assert_array_equal(numpy.asarray(A.T.todense()), dense.T)
    with pytest.raises(NotImplementedError):
        A.astype(int) @ np.ones(3)
    with pytest.raises(NotImplementedError):
        A.asformat("csc")
    mask = A > 2
    assert mask.dtype == bool and mask.nnz == 2
    A[mask] = 10
    numpy.testing.assert_array_equal(numpy.asarray(A.todense()), [[1, 2, 0], [10, 0, 10]])
    y = np.zeros(2)
    A.dot(np.ones(3), out=y)
    numpy.testing.assert_array_equal(numpy.asarray(y), [3, 20])
    banded = sparse.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(30, 30), format="csr")
    assert isinstance(banded, sparse.csr_array)
    b = np.asarray(numpy.arange(30.0))
    x, turns = linalg.cg(banded, b, tol=1e-10)
    assert turns == 25 and numpy.allclose(numpy.asarray(banded @ x), numpy.arange(30.0))
    x, info = linalg.gmres(banded, b, tol=1e-10)
    assert info == 0 and numpy.allclose(numpy.asarray(banded @ x), numpy.arange(30.0))
    a, c, d = np.ones(3), np.array(2.0), np.array(4.0)
    linalg.cg_axpby(a, np.ones(3), c, d, isalpha=True, negate=True)
    numpy.testing.assert_array_equal(numpy.asarray(a), [0.5] * 3)


def test_sums_blocks_and_masks_of_legate_sparse():
    import cupynumeric as np
    import legate_sparse as sparse
    from legate_sparse.csr import geam
    from legate_sparse.linalg import eigsh
    from legate_sparse.utils import sort_by_rows_then_cols

    dense = numpy.array([[1.0, 2, 0], [3, 0, 4], [0, 0, 5]])
    A, B = sparse.csr_array(dense), sparse.csr_array(dense.T.copy())
    for wrong in (np.ones(3), "text", [1, 2]):
        with pytest.raises(AssertionError):
            A != wrong
    for call in (lambda: A + 5.0, lambda: 5.0 - A):
        with pytest.raises(NotImplementedError):
            call()
    numpy.testing.assert_array_equal(numpy.asarray((0 - A).todense()), -dense)
    numpy.testing.assert_array_equal(numpy.asarray(A + np.asarray(dense)), 2 * dense)
    numpy.testing.assert_array_equal(numpy.asarray((A * 2).vals), 2 * dense[dense != 0])
    C = geam(A, B, 2.0, -1.0)
    numpy.testing.assert_array_equal(numpy.asarray(C.todense()), 2 * dense - dense.T)
    numpy.testing.assert_array_equal(numpy.asarray(geam(A, B, 1.0, 1.0, C=C).todense()), dense + dense.T)
    with pytest.raises(TypeError, match="two csr_arrays"):
        geam(A, dense)
    mask = A.copy()
    mask.data = numpy.ones(A.nnz, bool)
    A[mask] = 7
    assert (A.get_data() == 7).all()
    whole = sparse.block_array([[B, None], [None, B]], dtype=np.float32)
    assert whole.shape == (6, 6) and whole.dtype == np.float32 and whole.nnz == 2 * B.nnz
    for wrong, words in (([], "cannot be empty"), ([[A, sparse.csr_array(dense[:2])]], "rows")):
        with pytest.raises(ValueError, match=words):
            sparse.block_array(wrong)
    with pytest.raises(TypeError, match="csr_array"):
        sparse.block_array([[A, dense]])
    rows, columns = numpy.array([2, 0, 2, 1]), numpy.array([1, 5, 0, 3])
    assert numpy.asarray(sort_by_rows_then_cols(rows, columns)).tolist() == [1, 3, 2, 0]
    banded = sparse.diags([1.0, 4.0, 1.0], [-1, 0, 1], shape=(12, 12), format="csr")
    assert eigsh(banded, k=2, return_eigenvectors=False).shape == (2,)
    for more, words in (({"k": 0}, "greater than 0"), ({"k": 12}, "smaller than n"), ({"which": "no"}, "which must be")):
        with pytest.raises(ValueError, match=words):
            eigsh(banded, **more)


def test_generators_and_factorisations_of_cupynumeric():
    import cupynumeric as np
    from cupynumeric.runtime import runtime

    assert runtime.num_gpus == 0 and runtime.num_procs > 0
    for kind in (np.random.XORWOW, np.random.MRG32k3a, np.random.PHILOX4_32_10):
        bits = kind(seed=3)
        rng = np.random.Generator(bits)
        drawn = rng.uniform(1.0, 3.0, size=5000, dtype=np.float32)
        assert drawn.dtype == np.float32 and 1 <= drawn.min() and drawn.max() <= 3 and abs(drawn.mean() - 2) < 0.05
        again = np.random.Generator(kind(seed=3)).uniform(1.0, 3.0, size=5000, dtype=np.float32)
        assert (drawn == again).all()
        assert rng.binomial(ntrials=9, p=0.5, size=4, dtype=np.uint32).dtype == np.uint32
        assert rng.standard_t(df=3.0, size=(2, 3)).shape == (2, 3) and rng.cauchy(1.0, 2.0, 3).shape == (3,)
        assert rng.integers(512, 653548, size=9, dtype=np.int16).dtype == np.int16
        assert bits.random_raw((2, 3)).shape == (2, 3) and isinstance(bits.random_raw(), int)
    with pytest.raises(NotImplementedError):
        np.random.BitGenerator()
    assert np.random.uniform(size=(2, 2), dtype=np.float32).dtype == np.float32
    assert np.random.rand(3, dtype=np.float32).dtype == np.float32 and np.random.binomial(n=3, p=0.5, size=2).shape == (2,)
    with pytest.raises(TypeError):
        np.random.uniform(0.0, 1.0, 3, breadth=2)

    a = numpy.array([[4.0, 1j], [-1j, 3]])
    for lower in (True, False):
        solved = np.linalg.cho_solve(np.linalg.cho_factor(a, lower=lower), numpy.array([1.0, 2]))
        numpy.testing.assert_allclose(a @ numpy.asarray(solved), [1, 2])
    with pytest.raises(ValueError, match="non-finite"):
        np.linalg.cho_factor(np.array([[np.nan]]))
    numpy.testing.assert_allclose(numpy.asarray(np.linalg.expm(np.zeros((2, 2)))), numpy.eye(2))
    with pytest.raises(ValueError, match="not supported"):
        np.linalg.expm(np.eye(2), method="guess")
    u, s, vh = np.linalg.tssvd(np.asarray(numpy.arange(12.0).reshape(6, 2)))
    assert u.shape == (6, 2) and s.shape == (2,) and vh.shape == (2, 2)
    out = np.zeros(2)
    assert np.linalg.solve(np.eye(2), np.ones(2), out=out) is out and out.sum() == 2


def test_tables_of_benchmarks(tmp_path, monkeypatch):
    from legate.util.benchmark import BenchmarkLog, benchmark_log

    out = io.StringIO()
    with benchmark_log("mine", ["size", "time"], out=out, metadata={"a": 1}) as log:
        log.log(size=3, time=0.5)
        with pytest.raises(ValueError, match="missing"):
            log.log(size=3)
    assert out.getvalue().splitlines()[-2:] == ["size,time", "3,0.5"]
    monkeypatch.setenv("LEGATE_BENCHMARK_OUT", str(tmp_path))
    with benchmark_log("my own", ["size"]) as log:
        log.log(size=1)
    assert len(list(tmp_path.glob("myown_*.0.csv"))) == 1

    class Silent(BenchmarkLog):
        def _log_metadata(self, metadata):
            pass

        _log_columns = _log_row = _log_metadata

    with Silent("mine", 0, ["size"], os.devnull, {}) as log:
        log.log(size=1)


def test_wrong_use_of_the_command():
    def fails(*arguments):
        done = subprocess.run([sys.executable, "-m", "heddle.compat", *arguments], capture_output=True, text=True)
        assert done.returncode == 2
        return done.stderr

    assert "there is no file" in fails("missing.py")
    assert "needs a module" in fails("-m")
    assert "usage" in fails()
