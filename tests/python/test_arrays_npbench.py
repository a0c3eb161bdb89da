"""NPBench's programs, unchanged but for the import, give what they give with NumPy."""

import importlib.util
import json
import pathlib
import warnings

import heddle.numpy as hn
import numpy as np
import pytest
from heddle.numpy._core import recorded

FOLDER = pathlib.Path(__file__).parents[3] / "shared" / "conformance" / "npbench"
PROGRAMS = sorted(path.parent.name for path in FOLDER.glob("*/info.json"))
# The largest parameters, by mode: programs here are tried for what they give, not for their speed, and
# where all is recorded, every turn of a loop over rows is a program of its own.
LARGEST = {"recorded": 5, "as it comes": 24}


def module(path, numpy):
    """A file as a module in which numpy is another one."""
    loaded = importlib.util.module_from_spec(importlib.util.spec_from_file_location(path.stem, path))
    text = path.read_text().replace("import numpy as np", "")
    loaded.np = numpy
    exec(compile(text, str(path), "exec"), loaded.__dict__)
    return loaded


def run(name, numpy, sizes, taken):
    info = json.loads((FOLDER / name / "info.json").read_text())["benchmark"]
    made = module(FOLDER / name / f"{info['module_name']}.py", np)
    values = dict(sizes)
    init = info.get("init")
    if init:
        results = getattr(made, init["func_name"])(*(sizes[one] for one in init["input_args"]))
        results = results if isinstance(results, tuple) else (results,)
        values |= dict(zip(init["output_args"], results))
    values = {key: taken(one) if isinstance(one, np.ndarray) else one for key, one in values.items()}
    program = module(FOLDER / name / f"{info['module_name']}_numpy.py", numpy)
    result = getattr(program, info["func_name"])(*(values[one] for one in info["input_args"]))
    results = result if isinstance(result, tuple) else (result,)
    return [one for one in results if one is not None] + [values[one] for one in info["output_args"] if one in values]


@pytest.mark.parametrize("mode", ["recorded", "as it comes"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, mode):
    info = json.loads((FOLDER / name / "info.json").read_text())["benchmark"]
    largest = LARGEST[mode]
    sizes = {key: min(one, largest) if isinstance(one, int) else one
             for key, one in info["parameters"]["S"].items()}  # fmt: skip
    before = recorded.at_once()
    recorded.set_at_once(0 if mode == "recorded" else before)
    recorded.set_direct("never" if mode == "recorded" else "")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            got = run(name, hn, sizes, hn.asarray)
            expected = run(name, np, sizes, lambda one: one)
            assert len(got) == len(expected) > 0
            for a, b in zip(got, expected):
                a = np.asarray(a)
                assert a.shape == np.shape(b) and a.dtype == np.asarray(b).dtype
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    finally:
        hn.flush()
        recorded.set_at_once(before)
        recorded.set_direct("")
