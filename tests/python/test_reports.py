"""What compiled functions say of themselves."""

import json

import heddle
import jax
import jax.numpy as jnp
import numpy as np

X = np.ones((8, 16), np.float32)
W = np.ones((16, 16), np.float32)


def model(w, x):
    return jnp.tanh(x @ w).sum()


def on_mesh():
    return heddle.jit(model, mesh={"dp": 2, "tp": 2}, layouts={"w": "_,tp", "x": "dp,_"})


def test_plan_before_anything_runs():
    f = on_mesh()
    plan = f.plan(jax.ShapeDtypeStruct(W.shape, W.dtype), jax.ShapeDtypeStruct(X.shape, X.dtype))
    text = str(plan)
    assert "dp=2,tp=2" in text and "all_reduce" in text.replace("-", "_")
    assert [row["value"] for row in plan.rows[:2]] == ["w", "x"]
    assert plan.tables[1][0]["bytes"] > 0
    page = plan._repr_html_()
    assert "<table>" in page and "<svg" in page and "<?xml" not in page


def test_profile_names_kernels_and_lines():
    f = on_mesh()
    f(W, X)
    profile = f.profile(steps=3)
    kinds = {row["kind"] for row in profile.rows}
    assert {"kernel", "collective"} <= kinds
    assert any("test_reports.py" in line for row in profile.rows for line in row["lines"])
    shares = [row["share"] for row in profile.rows]
    assert shares == sorted(shares, reverse=True) and abs(sum(shares) - 100) < 1


def test_explain_lists_steps():
    f = heddle.jit(model)
    text = str(f.explain(W, X))
    assert "kernel" in text and "test_reports.py" in text


def test_trace_is_json_for_perfetto(tmp_path):
    f = on_mesh()
    f(W, X)
    f.trace(tmp_path / "trace.json", W, X)
    events = json.loads((tmp_path / "trace.json").read_text())
    names = {e.get("name") for e in (events["traceEvents"] if isinstance(events, dict) else events)}
    assert len(names) > 2
