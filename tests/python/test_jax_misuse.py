"""JAX on Heddle's backend: wrong use. One mistake a test, with what the user is told."""

import jax_backend  # first: it chooses the backend
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from heddle import jax_plugin
from jax._src import dispatch
from jax.errors import JaxRuntimeError
from jax.experimental.layout import Format, Layout


@pytest.fixture(autouse=True)
def forget_failures():
    """JAX says again when the process ends what went wrong in callbacks."""
    yield
    dispatch.runtime_tokens.clear()


def raises_at_the_end(value):
    """What an asynchronous result raises when somebody waits for it."""
    with pytest.raises(Exception) as raised:
        jax.block_until_ready(value())
        jax.effects_barrier()
    return str(raised.value)


def test_a_deleted_array():
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        jax.jit(lambda x: x + 1)(x)


def test_a_donated_array():
    x = jnp.ones(3)
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    with pytest.raises(RuntimeError, match="deleted|donated"):
        np.asarray(x)


def test_one_array_donated_twice():
    x = jnp.ones(3)
    f = jax.jit(lambda x, y: (x + 1, y * 2), donate_argnums=(0, 1))
    with pytest.raises(JaxRuntimeError, match="donate the same buffer twice"):
        f(x, x)
    assert not x.is_deleted()


def test_one_array_donated_and_passed():
    x = jnp.ones(3)
    with pytest.raises(JaxRuntimeError, match="argument 0 is donated, and argument 1 is the same buffer"):
        jax.jit(lambda x, y: x + y, donate_argnums=0)(x, x)


def test_a_callback_that_raises():
    def broken(x):
        raise ValueError("no such luck")
    f = jax.jit(lambda x: jax.pure_callback(broken, jax.ShapeDtypeStruct((), jnp.float32), x))
    said = raises_at_the_end(lambda: f(1.0))
    assert "no such luck" in said and "in broken" in said


def test_an_ordered_callback_that_raises():
    """JAX itself says so again when the process ends: in one of its own."""
    done = jax_backend.child("""
        import jax, jax.numpy as jnp
        from jax.experimental import io_callback
        def broken(x):
            raise ValueError("out of order")
        jax.jit(lambda x: io_callback(broken, jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True))(1.0)
        jax.effects_barrier()
    """)
    assert done.returncode != 0 and "in broken" in done.stderr and "out of order" in done.stderr


def test_what_uses_a_failed_result_fails_alike():
    def broken(x):
        raise ValueError("poison")
    f = jax.jit(lambda x: jax.pure_callback(broken, jax.ShapeDtypeStruct((), jnp.float32), x))
    try:
        x = f(1.0)
    except Exception:  # a call may fail at once
        return
    assert "poison" in raises_at_the_end(lambda: jax.jit(lambda x: x + 1)(x))


def test_the_backend_works_on_after_a_failure():
    test_a_callback_that_raises()
    assert float(jax.jit(lambda x: x + 1)(1.0)) == 2


def test_a_callback_of_another_shape():
    wrong = lambda x: np.ones(3, np.float32)
    f = jax.jit(lambda x: jax.pure_callback(wrong, jax.ShapeDtypeStruct((2,), jnp.float32), x))
    assert "shape" in raises_at_the_end(lambda: f(1.0))


def test_a_type_that_heddle_does_not_have():
    with pytest.raises(JaxRuntimeError, match="float6_e2m3fn") as raised:
        jax.device_put(np.ones(4, ml_dtypes.float6_e2m3fn))
    if jax.__version_info__ >= (0, 11):  # before, jaxlib itself has no such type
        assert "Heddle has no arrays of float6_e2m3fn; it has bool," in str(raised.value)


def test_a_type_that_jax_does_not_have():
    with pytest.raises(TypeError, match="not a valid JAX array type"):
        jax.device_put(np.array(["a", "b"]))


def test_a_layout_of_tiles():
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    tiles = Format(Layout(major_to_minor=(1, 0), tiling=((2, 2),)), here)
    with pytest.raises(JaxRuntimeError, match=r"no tiled layouts, as \{0,1:T\(2,2\)\}"):
        jax.device_put(np.ones((2, 3), np.float32), tiles)


def test_a_custom_call_that_nobody_knows():
    f = jax.jit(lambda x: jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((3,), jnp.float32))(x))
    with pytest.raises(JaxRuntimeError, match="custom call @no_such_target is not implemented by Heddle"):
        f(jnp.ones(3)).block_until_ready()


def test_a_compile_option_that_nobody_knows():
    with pytest.raises(JaxRuntimeError, match="No such compile option: 'fast'"):
        jax.jit(lambda x: x + 1, compiler_options={"fast": True})(1.0)


@pytest.mark.parametrize(("name", "value", "said"), [
    ("xla_embed_ir_in_executable", "maybe", "'maybe' is not a valid bool value"),
    ("xla_backend_optimization_level", 2.5, "'2.5' is not a valid int32 value"),
    ("xla_no_such_flag", True, "No such compile option: 'xla_no_such_flag'"),
])
def test_an_option_of_xla_with_a_wrong_value(name, value, said):
    """As on JAX's CPU backend, though what is right changes nothing."""
    with pytest.raises(JaxRuntimeError, match=said):
        jax.jit(lambda x: x + 1, compiler_options={"xla_dump_hlo_as_text": True, name: value})(1.0)


def test_a_mesh_larger_than_the_devices():
    with pytest.raises(ValueError, match="devices"):
        jax.make_mesh((2, 4), ("x", "y"))


def test_pmap_over_more_than_the_devices():
    with pytest.raises(ValueError):
        jax.pmap(lambda x: x)(np.ones((9, 2)))


@pytest.mark.parametrize("count", ["0", "-3", "many", "8.5", "1000000"])
def test_an_impossible_number_of_devices(count):
    done = jax_backend.child("import jax; jax.devices()", HEDDLE_DEVICES=count)
    assert done.returncode != 0
    assert f"HEDDLE_DEVICES={count}: expected a number from 1 to" in done.stderr


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there(device):
    done = jax_backend.child("import jax; jax.devices()", HEDDLE_DEVICE=device)
    assert done.returncode != 0
    assert f"HEDDLE_DEVICE={device}: there is no " in done.stderr


def test_a_plan_that_is_not_there():
    done = jax_backend.child("import jax; print(jax.numpy.ones(3) + 1)", HEDDLE_PLAN="no/such/plan.json")
    assert done.returncode != 0
    assert "no/such/plan.json" in done.stderr


@pytest.mark.parametrize("version, fits", [("0.9.2", False), ("0.10.2", True), ("0.12.0.1", True), ("0.13.0", False)])
def test_a_jax_that_does_not_fit_is_refused(monkeypatch, version, fits):
    import jaxlib

    monkeypatch.setattr(jaxlib, "__version__", version)
    if fits:
        jax_plugin._check_version()
        return
    with pytest.raises(RuntimeError, match=rf"jaxlib {version}: pip install 'jax>=0\.10,<0\.13'"):
        jax_plugin._check_version()


def test_two_versions_of_jax_and_jaxlib(monkeypatch):
    """jaxlib counts: it is what the plugin talks to."""
    import jaxlib

    monkeypatch.setattr(jaxlib, "__version__", "0.8.0")
    monkeypatch.setattr(jax, "__version__", "0.11.1")
    with pytest.raises(RuntimeError, match="jax 0.11.1 and jaxlib 0.8.0"):
        jax_plugin._check_version()
