"""JAX on Heddle's backend with eight devices: jax.sharding, shard_map, pmap."""

import jax_backend  # first: it chooses the backend

jax_backend.show_devices(8)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

DEVICES = np.array(jax.devices())
MESH = Mesh(DEVICES.reshape(2, 4), ("x", "y"))
CPU_MESH = Mesh(np.array(jax.devices("cpu")).reshape(2, 4), ("x", "y"))


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def on_both(make, *arguments):
    """The results on Heddle's devices and on as many of JAX's CPU backend."""
    for mesh in (MESH, CPU_MESH):
        function, specs = make(mesh)
        placed = [jax.device_put(a, NamedSharding(mesh, s)) for a, s in zip(arguments, specs, strict=True)]
        yield jax.tree.leaves(jax.jit(function)(*placed))


def agree(make, *arguments):
    for one, other in zip(*on_both(make, *arguments), strict=True):
        assert one.sharding.spec == other.sharding.spec
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_there_are_eight_devices():
    assert len(DEVICES) == 8 and [d.id for d in DEVICES] == list(range(8))
    assert all("Heddle" in d.client.platform_version for d in DEVICES)


def test_a_product_of_sharded_matrices():
    agree(lambda mesh: (lambda a, b: jnp.tanh(a @ b), (P("x", None), P(None, "y"))), normal(8, 12), normal(12, 16))


def test_a_contraction_over_devices():
    def make(mesh):
        whole = NamedSharding(mesh, P())
        f = lambda a, b: jax.lax.with_sharding_constraint(a @ b, whole)
        return f, (P(None, ("x", "y")), P(("x", "y"), None))
    agree(make, normal(4, 16), normal(16, 4))


def test_results_lie_where_they_were_asked_for():
    f = jax.jit(lambda x: x * 2, out_shardings=NamedSharding(MESH, P("y", "x")))
    y = f(normal(8, 8))
    assert y.sharding.spec == P("y", "x") and len(y.addressable_shards) == 8
    for shard in y.addressable_shards:
        np.testing.assert_array_equal(shard.data, 2 * normal(8, 8)[shard.index])


def test_devices_in_another_order():
    mesh = Mesh(DEVICES[[5, 2, 7, 0]], ("x",))
    x = jax.device_put(normal(8, 3), NamedSharding(mesh, P("x")))
    y = jax.jit(lambda x: jnp.cumsum(x, axis=0))(x)
    np.testing.assert_allclose(y, np.cumsum(normal(8, 3), axis=0), rtol=1e-5)
    assert y.sharding.device_set == set(mesh.devices.flat)


def test_shard_map_with_collectives():
    def make(mesh):
        def body(a):
            right = jax.lax.ppermute(a, "y", [(i, (i + 1) % 4) for i in range(4)])
            total = jax.lax.psum(a, ("x", "y"))
            gathered = jax.lax.all_gather(a, "x", axis=0, tiled=True)
            return right + total, jax.lax.all_to_all(gathered, "y", 0, 1, tiled=True) + jax.lax.axis_index("y")
        f = jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=(P("x", "y"), P("y", "x")),
                          check_vma=False)
        return f, (P("x", "y"),)
    agree(make, normal(8, 16))


def test_grad_through_shard_map():
    def make(mesh):
        f = jax.shard_map(lambda a, w: jax.lax.psum(jnp.sin(a @ w), "y"), mesh=mesh,
                          in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))
        return jax.grad(lambda a, w: jnp.sum(f(a, w) ** 2), argnums=(0, 1)), (P("x", "y"), P("y", None))
    agree(make, normal(4, 8), normal(8, 5))


def test_pmap():
    x = normal(8, 5)
    y = jax.pmap(lambda x: x - jax.lax.pmean(x, "i"), axis_name="i")(x)
    np.testing.assert_allclose(y, x - x.mean(axis=0), atol=1e-6)


def test_arrays_move_between_layouts():
    x = jax.device_put(normal(8, 8), NamedSharding(MESH, P("x", "y")))
    for spec in (P("y", "x"), P(), P(("x", "y")), P(None, "x")):
        x = jax.device_put(x, NamedSharding(MESH, spec))
        assert x.sharding.spec == spec
        np.testing.assert_array_equal(x, normal(8, 8))


def test_donation_of_sharded_arrays():
    x = jax.device_put(normal(8, 8), NamedSharding(MESH, P("x", "y")))
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    np.testing.assert_allclose(y, normal(8, 8) + 1)


def test_one_device_of_several():
    x = jax.device_put(normal(4), DEVICES[3])
    y = jax.jit(jnp.sum)(x)
    assert y.devices() == {DEVICES[3]}


def test_a_training_step():
    def make(mesh):
        def loss(w1, w2, x):
            return jnp.mean((jax.nn.gelu(x @ w1) @ w2 - x) ** 2)
        def step(w1, w2, x):
            value, (g1, g2) = jax.value_and_grad(loss, argnums=(0, 1))(w1, w2, x)
            return value, w1 - 0.1 * g1, w2 - 0.1 * g2
        return step, (P(None, "y"), P("y", None), P("x", None))
    results = list(on_both(make, normal(16, 32), normal(32, 16), normal(8, 16)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_callbacks_of_every_device():
    seen = []
    x = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(Mesh(DEVICES, ("i",)), P("i")))

    def body(x):
        jax.debug.callback(lambda x: seen.append(float(x[0])), x)
        return x
    jax.jit(jax.shard_map(body, mesh=x.sharding.mesh, in_specs=P("i"), out_specs=P("i")))(x)
    jax.effects_barrier()
    assert sorted(seen) == list(range(8))


def test_partitioned_callbacks_see_the_parts_of_devices():
    seen = []

    @jax.jit
    def f(x):
        jax.debug.callback(lambda x: seen.append(x.tolist()), x * 2, partitioned=True)
        jax.debug.callback(lambda x: seen.append(x.tolist()), x.sum())

    f(jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(Mesh(DEVICES, "x"), P("x"))))
    jax.effects_barrier()
    assert sorted(map(str, seen)) == sorted(map(str, [28.0, *([2.0 * i] for i in range(8))]))


def test_the_text_of_what_was_compiled_has_its_collectives():
    x = jax.device_put(normal(8, 8), NamedSharding(MESH, P("x", "y")))
    text = jax.jit(jnp.sum).lower(x).compile().as_text()
    assert " all-reduce(" in text and "f32[4,2]" in text, text


def test_a_question_for_a_sharding_does_no_harm():
    """It is not answered, and a warning says so."""
    x = jax.device_put(normal(8, 8), NamedSharding(MESH, P("x", "y")))

    @jax.jit
    def f(x):
        jax.debug.inspect_array_sharding(x, callback=lambda sharding: None)
        return x + 1
    np.testing.assert_allclose(f(x), normal(8, 8) + 1)


def test_an_executable_for_eight_devices_survives_serialisation():
    from jax.experimental import serialize_executable

    sharding = NamedSharding(MESH, P("x", "y"))
    x = jax.device_put(normal(8, 8), sharding)
    compiled = jax.jit(lambda x: x.T @ x, out_shardings=sharding).lower(x).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    np.testing.assert_allclose(loaded(x), compiled(x))
