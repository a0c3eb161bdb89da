"""Programs that speak of the same eight devices by several meshes."""

import jax_backend  # first: it chooses the backend

jax_backend.show_devices(8)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

X = np.arange(64 * 16, dtype=np.float32).reshape(64, 16) / 100


class Meshes:
    """The same devices as 2 times 4, as 8 and as 4 times 2; some axes have one name and other sizes."""

    def __init__(self, devices):
        devices = np.array(devices)
        self.two_four = Mesh(devices.reshape(2, 4), ("a", "b"))
        self.eight = Mesh(devices, ("a",))
        self.four_two = Mesh(devices.reshape(4, 2), ("p", "q"))
        self.reversed = Mesh(devices[::-1], ("a",))


HEDDLE, JAX = Meshes(jax.devices()), Meshes(jax.devices("cpu"))


def placed(x, mesh, *spec):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


def constrained(x, mesh, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


def agree(run):
    here, there = run(HEDDLE), run(JAX)
    np.testing.assert_allclose(here, there, rtol=1e-5)
    return here, there


def test_arguments():
    agree(lambda m: jax.jit(lambda x, y: x @ y.T)(placed(X, m.two_four, "a", "b"), placed(X, m.eight, "a")))


def test_axes_that_only_their_parts_have_in_common():
    here, there = agree(lambda m: jax.jit(lambda x, y: jnp.sin(x) * y)(
        placed(X, m.two_four, "a", "b"), placed(X, m.four_two, "p", "q")))
    assert here.sharding.spec == there.sharding.spec


def test_a_constraint():
    here, there = agree(lambda m: jax.jit(lambda x: jnp.sin(constrained(2 * x, m.eight, None, "a")))(
        placed(X, m.two_four, "a", "b")))
    assert here.sharding.spec == there.sharding.spec


def test_results():
    def run(m):
        f = jax.jit(lambda x: (x + 1, x.sum(0)), out_shardings=(
            NamedSharding(m.four_two, P("q", "p")), NamedSharding(m.eight, P("a"))))
        results = f(placed(X, m.two_four, "a", "b"))
        assert results[0].sharding.spec == P("q", "p") and results[1].sharding.spec == P("a")
        return np.concatenate([np.asarray(r).ravel() for r in results])
    agree(run)


def test_a_shard_map_each():
    def run(m):
        def f(x):
            sums = jax.shard_map(lambda a: jax.lax.psum(a, "b"), mesh=m.two_four, in_specs=P("a", "b"),
                                 out_specs=P("a", None))(x)
            return jax.shard_map(lambda a: a * jax.lax.axis_index("a"), mesh=m.eight, in_specs=P("a"),
                                 out_specs=P("a"))(sums)
        return jax.jit(f)(X)
    agree(run)


def test_a_shard_map_over_some_of_the_axes():
    """JAX's CPU backend aborts on this one."""
    def f(x):
        part = jax.shard_map(lambda a: jax.lax.psum(a * 2, "q"), mesh=HEDDLE.four_two, in_specs=P(None, "q"),
                             out_specs=P(None, None), axis_names={"q"})(x)
        return jnp.tanh(part)
    y = jax.jit(f)(placed(X, HEDDLE.two_four, "a", "b"))
    np.testing.assert_allclose(y, np.tanh(2 * (X[:, :8] + X[:, 8:])), rtol=1e-5)


@pytest.mark.parametrize("axes", ["eight", "four_two", "reversed"])
def test_moving_from_one_to_the_other(axes):
    mesh = getattr(HEDDLE, axes)
    spec = P(*mesh.axis_names)
    y = jax.device_put(placed(X, HEDDLE.two_four, "b", "a"), NamedSharding(mesh, spec))
    assert y.sharding == NamedSharding(mesh, spec)
    for shard in y.addressable_shards:
        np.testing.assert_array_equal(shard.data, X[shard.index])


def test_a_result_along_a_part_of_an_axis_is_whole_for_jax():
    """JAX has no name for a dimension along half of an axis."""
    y = jax.jit(lambda x: x.reshape(2, 4, 16).sum(2))(placed(X[:8], HEDDLE.eight, "a"))
    np.testing.assert_allclose(y, X[:8].reshape(2, 4, 16).sum(2), rtol=1e-5)
    assert y.sharding.spec == P()


def test_meshes_without_common_axes_are_refused():
    six = np.array(jax.devices()[:6])
    x, y = placed(X[:6, :6], Mesh(six.reshape(2, 3), ("a", "b")), "a"), placed(
        X[:6, :6], Mesh(six.reshape(3, 2), ("c", "d")), "c")
    with pytest.raises(jax.errors.JaxRuntimeError, match="cut the same 6 devices.*use one mesh"):
        jax.jit(lambda x, y: x * y)(x, y)
