"""heddle.save and heddle.restore."""

import heddle
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

W = np.arange(48, dtype=np.float32).reshape(6, 8)


def spread(mesh, layout):
    f = heddle.jit(lambda w: w * 1, mesh=mesh, layouts={"w": layout, "result": layout})
    return f(W)


def test_from_a_mesh_onto_any_other(tmp_path):
    tree = {"w": spread({"dp": 2, "tp": 2}, "dp,tp"), "n": np.int32(7)}
    heddle.save(tmp_path / "step-3", tree, step=3)
    same = heddle.restore(tmp_path / "step-3", tree)
    assert same["w"].layout == "dp,tp" and int(np.asarray(same["n"])) == 7
    other = heddle.restore(tmp_path / "step-3", tree, mesh={"x": 3}, layouts={"['w']": P("x")})
    assert other["w"].mesh == {"x": 3} and [p.shape for p in other["w"].parts] == [(2, 8)] * 3
    one = heddle.restore(tmp_path / "step-3", {"w": W, "n": 0})
    for tree in (same, other, one):
        np.testing.assert_array_equal(tree["w"], W)


def test_newest_of_a_folder(tmp_path):
    for step in (1, 10, 9):
        heddle.save(tmp_path / f"step-{step}", {"w": W * step}, step=step)
    np.testing.assert_array_equal(heddle.restore(tmp_path)["['w']"], W * 10)


def test_restored_values_go_on(tmp_path):
    heddle.save(tmp_path / "one", {"w": spread({"dp": 2}, "dp,_")})
    w = heddle.restore(tmp_path / "one", {"w": W}, mesh={"dp": 3}, layouts={"*": "dp,_"})["w"]
    f = heddle.jit(lambda w: w + 1, mesh={"dp": 3}, layouts={"w": "dp,_"})
    np.testing.assert_array_equal(f(w), W + 1)


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "bool", "float64"])
def test_element_types(tmp_path, dtype):
    import ml_dtypes

    x = W.astype(getattr(ml_dtypes, dtype, dtype))
    heddle.save(tmp_path / "one", [x])
    back = heddle.restore(tmp_path / "one", [x])[0]
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(back), x)


def test_a_device_and_a_mesh_are_too_much(tmp_path):
    heddle.save(tmp_path / "one", {"w": W})
    with pytest.raises(heddle.Error, match="is for values on no mesh"):
        heddle.restore(tmp_path / "one", mesh={"x": 2}, device="cuda")
    with pytest.raises(heddle.Error, match='there is no device "tpu"'):
        heddle.restore(tmp_path / "one", device="tpu")
    np.testing.assert_array_equal(heddle.restore(tmp_path / "one", device="cpu")["['w']"], W)
