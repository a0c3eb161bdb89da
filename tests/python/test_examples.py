"""The tutorial, the examples and the notebook, as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_tutorial():
    text = (ROOT / "docs/tutorial.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 8
    # One file, with the blocks at their lines, so that a traceback names the line of the page.
    source, at = "", 0
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        source += "\n" * (line - at) + block
        at = line + block.count("\n")
    exec(compile(source, str(ROOT / "docs/tutorial.md"), "exec"), {"__name__": "tutorial"})


def loss_at(output, step):
    return float(re.search(rf"step +{step}  loss ([\d.]+)", output).group(1))


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/jax" / name), *arguments],
        capture_output=True, text=True, timeout=500, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_gpt_learns():
    output = run("gpt.py", "--steps", "60")
    assert loss_at(output, 59) < 0.5 * loss_at(output, 0)
    assert "up lies as _,tp" in output


def test_image_model_learns():
    output = run("image.py")
    assert int(re.search(r"right on (\d+) %", output).group(1)) > 90


def test_pde_agrees_with_jax():
    output = run("pde.py")
    assert float(re.search(r"differs from JAX by at most (\S+)", output).group(1)) < 1e-3


def test_notebook_runs():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(ROOT / "examples/jax/layouts.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert any("<table>" in data.get("text/html", "") and "<svg" in data["text/html"] for data in shown)
