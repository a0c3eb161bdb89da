"""One wrong use each, with what is said of it."""

import heddle
import jax
import numpy as np
import pytest

X = np.ones((4, 8), np.float32)


def wrong(match):
    return pytest.raises(heddle.Error, match=match)


def test_unsupported_dtype():
    with wrong(r"x is an array of object|argument 0 is an array of object"):
        heddle.jit(lambda x: x)(np.array([object()]))


def test_unsupported_dtype_deep_inside():
    with wrong(r"argument 0\['a'\]\[1\] is an array of <U1"):
        heddle.jit(lambda x: x)({"a": [X, np.array(["b"])]})


def test_no_array_at_all():
    with wrong("argument 0 is of the type str"):
        heddle.jit(lambda x: x)("text")


def test_mesh_larger_than_the_devices():
    with wrong("4096 devices are more than threads of one process can stand for"):
        heddle.jit(lambda x: x, mesh={"dp": 4096})(X)


def test_mesh_without_sizes():
    with wrong("write axes with their sizes"):
        heddle.jit(lambda x: x, mesh=["dp", "tp"])


def test_axis_of_no_size():
    with wrong("the axis dp has to have a size of at least 1"):
        heddle.jit(lambda x: x, mesh={"dp": 0})


def test_unknown_path_suggests():
    f = heddle.jit(
        lambda params: params["w_in"] * 2, mesh={"tp": 2}, layouts={"params['w_im']": "_,tp"}
    )
    with wrong(r"params\['w_im'\].*did you mean.*params\['w_in'\]"):
        f({"w_in": X})


def test_unknown_path_with_a_spec_suggests():
    spec = jax.sharding.PartitionSpec("tp")
    f = heddle.jit(
        lambda params: params["w_in"] * 2, mesh={"tp": 2}, layouts={"params['w_im']": spec}
    )
    with wrong(r"did you mean.*params\['w_in'\]"):
        f({"w_in": X})


def test_unknown_axis():
    with wrong("tq"):
        heddle.jit(lambda x: x, mesh={"tp": 2}, layouts={"x": "tq,_"})(X)


def test_layout_that_is_none():
    with wrong("is no layout"):
        heddle.jit(lambda x: x, mesh={"tp": 2}, layouts={"x": 3})(X)


def test_layout_of_another_rank():
    with wrong("it has 3 dimensions and tensor<4x8xf32> has 2"):
        heddle.jit(lambda x: x, mesh={"tp": 2}, layouts={"x": "tp,_,_"})(X)


def test_donated_array_is_gone():
    f = heddle.jit(lambda x: x + 1, donate=0)
    x = heddle.array(X.copy())
    f(x)
    with wrong("was donated to a call"):
        np.asarray(x)
    with wrong("was donated to a call"):
        f(x)


def test_donated_twice():
    f = heddle.jit(lambda x, y: (x + 1, y + 2), donate=(0, 1))
    x = heddle.array(X.copy())
    with wrong("was donated to a call"):
        f(x, x)


def test_deleted_array_is_gone():
    x = heddle.array(X)
    x.delete()
    with wrong("was deleted"):
        heddle.jit(lambda v: v)(x)


def test_unhashable_static():
    with pytest.raises((heddle.Error, TypeError, ValueError), match="hashable"):
        heddle.jit(lambda x, n: x, static_argnums=1)(X, [1])


def test_out_of_no_kind():
    with wrong("out='cupy': it is one of heddle, numpy, jax, torch"):
        heddle.jit(lambda x: x, out="cupy")


def test_no_function():
    with wrong("takes a function"):
        heddle.jit(3)


def test_ranks_without_a_launcher():
    with wrong("not one of several ranks"):
        heddle.jit(lambda x: x, mesh={"dp": 2}, ranks=True)(X)


def test_the_users_own_exception_arrives():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        heddle.jit(f)(X)


def test_plan_before_any_call():
    with wrong(r"as in f.plan\(x\)"):
        heddle.jit(lambda x: x).plan()


def test_error_knows_place_and_line():
    from heddle import _core

    text = """func.func @main(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> loc("model.py":57:0)
  return %0 : tensor<4xf32>
}"""
    with pytest.raises(heddle.Error) as caught:
        _core.compile(_core.read_program(text, "step.mlir"))
    assert caught.value.place.startswith("step.mlir:2:")
    assert caught.value.line == "model.py:57"


def test_unknown_checkpoint_value_suggests(tmp_path):
    heddle.save(tmp_path / "one", {"weights": X})
    with wrong(r"no value called \['weight'\]: did you mean \['weights'\]"):
        heddle.restore(tmp_path / "one", {"weight": X})


def test_checkpoint_that_is_not_there(tmp_path):
    with wrong("nothing"):
        heddle.restore(tmp_path / "nothing")


def test_checkpoint_of_another_shape(tmp_path):
    heddle.save(tmp_path / "one", {"w": X})
    with wrong(r"saved with the shape \(4, 8\), and \(2, 8\) is expected"):
        heddle.restore(tmp_path / "one", {"w": X[:2]})


@pytest.mark.parametrize("device", ["cuda:99", "cuad", "cuda:", "cuda:x", "gpu"])
def test_a_device_that_is_not_there(device):
    with pytest.raises(heddle.Error, match="there is no "):
        heddle.jit(lambda x: x + 1, device=device)(np.ones(3, np.float32))
    with pytest.raises(heddle.Error, match="there is no "):
        heddle.array(np.ones(3, np.float32), device=device)


def test_a_device_that_is_no_text():
    with pytest.raises(heddle.Error, match='device=0: it is a text, as "cpu", "cuda" or "cuda:1"'):
        heddle.jit(lambda x: x + 1, device=0)
