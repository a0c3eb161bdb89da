"""The package itself: what importing takes, types, stubs, and that examples in docstrings hold."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import heddle
import pytest

FOLDER = Path(heddle.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    "heddle",
    "heddle.errors",
    "heddle.layouts",
    "heddle.jitted",
    "heddle.checkpoint",
    "heddle.reports",
    "heddle.schedules",
    "heddle.numpy",
]


def test_import_loads_neither_jax_nor_numpy():
    code = "import sys, heddle; print(any(m in sys.modules for m in ('jax', 'numpy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_stubs_fit_the_module(tmp_path):
    pytest.importorskip("nanobind")
    stub = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "heddle._core", "-o", str(stub)],
        check=True,
    )
    assert stub.read_text() == (ROOT / "python/heddle/_core.pyi").read_text()
