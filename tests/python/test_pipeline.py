"""heddle.jit in micro-batches and stages: a step of training gives what it gives at once."""

import heddle
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def loss(params, x, y):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean((x - y) ** 2)


def step(params, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    return value, [w - 0.1 * g for w, g in zip(params, gradients, strict=True)]


def arguments():
    numbers = np.random.default_rng(7)
    draw = lambda *shape: numbers.standard_normal(shape).astype(np.float32)  # noqa: E731
    return [draw(6, 6) for _ in range(4)], draw(8, 6), draw(8, 6)


def expect_same(got, wanted):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"micro_batches": 4},
        {"micro_batches": 2, "mesh": {"dp": 2}, "layouts": {"x": "dp,_"}},
        {"micro_batches": 4, "mesh": {"pp": 2}, "pipeline": "pp"},
        {"micro_batches": 2, "mesh": {"pp": 2, "dp": 2}, "pipeline": "pp", "layouts": {"x": "dp,_"}},
        {"micro_batches": 4, "mesh": {"pp": 2}, "pipeline": "pp", "interleave": 2},
        {"micro_batches": 4, "mesh": {"pp": 2}, "pipeline": "pp", "donate": "params"},
        {"stages": 2, "mesh": {"a": 2}, "plan": "auto"},
        {"stages": "auto", "mesh": {"a": 2, "b": 2}, "plan": "auto", "donate": "params"},
        {"micro_batches": "auto", "mesh": {"pp": 2}, "pipeline": "pp", "plan": "auto"},
    ],
)
def test_gives_what_it_gives_at_once(options):
    params, x, y = arguments()
    f = heddle.jit(step, **options)
    value, again = step(params, x, y)
    mine, new = f(params, x, y)
    expect_same(mine, value)
    expect_same(new, again)
    assert "one" not in repr(mine)  # a device of a stage is no mesh of the user's
    # What lies on stages is taken from there by the next call.
    expect_same(f(new, x, y), step(again, x, y))


@pytest.mark.parametrize("more", [{}, {"plan": "auto"}])
def test_shows_its_plan(more):
    params, x, y = arguments()
    f = heddle.jit(step, mesh={"pp": 2, "dp": 2}, pipeline="pp", micro_batches=4, **more)
    text = str(f.plan(params, x, y))
    assert "2 stages, 4 micro-batches" in text
    assert "stage 0 to 1" in text
    assert "stage 1\n" in text


def test_checkpoints_of_stages_go_anywhere(tmp_path):
    params, x, y = arguments()
    staged = heddle.jit(step, mesh={"pp": 2}, pipeline="pp", micro_batches=4, donate="params")
    _, new = staged(params, x, y)
    heddle.save(str(tmp_path / "saved"), new)
    whole = heddle.restore(str(tmp_path / "saved"), like=params)
    expect_same(whole, step(params, x, y)[1])


def test_what_is_wrong_is_said():
    params, x, y = arguments()
    with pytest.raises(heddle.Error, match="can be cut into 1, 2, 4, 8"):
        heddle.jit(step, micro_batches=3)(params, x, y)
    with pytest.raises(heddle.Error, match="has no such axis"):
        heddle.jit(step, micro_batches=2, mesh={"dp": 2}, pipeline="pp")(params, x, y)
    with pytest.raises(heddle.Error, match="3 stages need an axis of as many devices"):
        heddle.jit(step, stages=3, mesh={"dp": 2})(params, x, y)
    with pytest.raises(heddle.Error, match="stages='many': it is a number of 1 or more, or auto"):
        heddle.jit(step, stages="many", mesh={"dp": 2})
    with pytest.raises(heddle.Error, match="micro_batches=0"):
        heddle.jit(step, micro_batches=0)
