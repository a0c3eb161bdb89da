"""The runner of JAX's tests: crashes and hangs are results of their cases, and known failures are no news."""

import sys
import textwrap
from pathlib import Path

import pytest

SUITE = Path(__file__).resolve().parents[1] / "jax_suite"
sys.path.insert(0, str(SUITE))
import run  # noqa: E402
import side  # noqa: E402

CASES = """
    import os, signal, time, unittest

    class Some(unittest.TestCase):
        def test_a_passes(self): pass
        def test_b_fails(self): self.assertEqual(1, 2)
        def test_c_crashes(self): os.kill(os.getpid(), signal.SIGSEGV)
        def test_d_passes(self): pass
        def test_e_hangs(self): time.sleep(1000)
        def test_f_skips(self): self.skipTest("not today")
        def test_g_passes(self): pass
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some_test.py"
    path.write_text(textwrap.dedent(CASES))
    return path


def outcomes(results):
    return [case.outcome for _, case in sorted(results.cases.items())]


def test_every_case_has_a_result(file, monkeypatch):
    monkeypatch.setattr(side, "CASE_SECONDS", 3)
    results = side.run_file(file, "cpu", file.parent)
    assert outcomes(results) == ["passed", "failed", "crashed", "passed", "hung", "skipped", "passed"]
    assert not results.problem and "1 != 2" in results.cases["Some::test_b_fails"].reason


def test_some_cases(file):
    assert len(side.run_file(file, "cpu", file.parent, side.Choice(stride=3, only=None)).cases) == 3
    chosen = side.run_file(file, "cpu", file.parent, side.Choice(only=["Some::test_d_passes"]))
    assert list(chosen.cases) == ["Some::test_d_passes"]


def test_a_file_that_cannot_be_run(tmp_path):
    path = tmp_path / "broken_test.py"
    path.write_text("import nothing_of_this_name")
    assert "nothing_of_this_name" in side.run_file(path, "cpu", tmp_path).problem


def test_files_that_ask_for_devices_see_eight(file):
    assert "HEDDLE_DEVICES" not in side.environment("heddle", file, file.parent)
    file.write_text("jtu.request_cpu_devices(8)")
    assert side.environment("heddle", file, file.parent)["HEDDLE_DEVICES"] == "8"
    assert "count=8" in side.environment("cpu", file, file.parent)["XLA_FLAGS"]


def test_what_passes_there_is_to_pass_here(tmp_path, capsys):
    known = tmp_path / "known.txt"
    known.write_text("# why\nsome_test.py::A::b* | asserts on text\n")
    there = side.Results({f"A::{n}": side.Case("passed") for n in ("a", "b1", "c", "d")})
    here = side.Results({"A::a": side.Case("passed"), "A::b1": side.Case("failed"), "A::c": side.Case("skipped")})
    compared = run.compare(Path("some_test.py"), there, here)
    assert list(compared.missed) == ["A::b1", "A::c", "A::d"] and compared.passed() == 1
    assert run.report([compared], run.Known(known), verbose=False) == 2
    said = capsys.readouterr().out
    assert "asserts on text" in said and said.count("NOT LISTED") == 2
    assert run.verdict([compared], 2) == 1


def test_a_known_failure_without_a_reason(tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("some_test.py::A::b\n")
    with pytest.raises(SystemExit, match="known.txt:1: expected `file::Class::case | reason`"):
        run.Known(known)
