"""heddle.jit: what it takes and gives."""

import gc
import weakref

import heddle
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.sharding import PartitionSpec as P


def layer(params, x):
    return jnp.tanh(x @ params["w"] + params["b"])


def params_of(width=8):
    rng = np.random.default_rng(0)
    return {
        "w": rng.standard_normal((width, width)).astype(np.float32),
        "b": rng.standard_normal(width).astype(np.float32),
    }


X = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)


def test_agrees_with_jax():
    got = heddle.jit(layer)(params_of(), X)
    np.testing.assert_allclose(got, jax.jit(layer)(params_of(), X), rtol=1e-5, atol=1e-6)


def test_pytrees_go_in_and_come_out():
    def swap(pair, *, named):
        return {"a": pair[1], "b": (pair[0], named["x"])}

    out = heddle.jit(swap)((X, X[0]), named={"x": X[1]})
    assert out["a"].shape == (8,) and out["b"][0].shape == (4, 8)
    np.testing.assert_array_equal(out["b"][1], X[1])


def test_decorator_with_options():
    @heddle.jit(donate="x")
    def twice(x):
        return 2 * x

    assert twice.__name__ == "twice"
    np.testing.assert_array_equal(twice(X), 2 * X)


def test_compiles_once_per_types():
    traced = []

    def f(x):
        traced.append(x.shape)
        return x + 1

    g = heddle.jit(f)
    g(X), g(X), g(jnp.asarray(X)), g(heddle.array(X))
    g(X[:2])
    assert traced == [(4, 8), (2, 8)]


def test_static_arguments():
    def power(x, n, flip=False):
        return -(x**n) if flip else x**n

    by_number = heddle.jit(power, static_argnums=1)
    by_name = heddle.jit(power, static_argnames=("n", "flip"))
    np.testing.assert_allclose(by_number(X, 2), X**2, rtol=1e-6)
    np.testing.assert_allclose(by_number(X, 3), X**3, rtol=1e-5)
    np.testing.assert_allclose(by_name(X, n=2, flip=True), -(X**2), rtol=1e-6)
    np.testing.assert_allclose(by_name(X, 2), X**2, rtol=1e-6)


def test_methods():
    class Scaled:
        def __init__(self, by):
            self.by = by

        @heddle.jit(static_argnums=0)
        def __call__(self, x):
            return self.by * x

    np.testing.assert_array_equal(Scaled(2)(X), 2 * X)
    np.testing.assert_array_equal(Scaled(3)(X), 3 * X)


def test_numbers_are_weak():
    out = heddle.jit(lambda x, s: x * s)(X.astype(ml_dtypes.bfloat16), 2.0)
    assert out.dtype == ml_dtypes.bfloat16


def test_weak_numbers_of_jax_are_another_program():
    f = heddle.jit(lambda x, s: x * s)
    x = X.astype(ml_dtypes.bfloat16)
    weak, strong = jnp.add(1.0, 1.0), jnp.float32(2)
    for _ in range(2):
        assert f(x, weak).dtype == ml_dtypes.bfloat16
        assert f(x, strong).dtype == np.float32


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "int32", "float16", "float32", "complex64", "bfloat16",
     "float8_e4m3fn", "float8_e5m2"],
)  # fmt: skip
def test_element_types(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = np.array([[0, 1], [2, 3]]).astype(dtype)
    out = heddle.jit(lambda v: v.T)(x)
    assert out.dtype == dtype
    np.testing.assert_array_equal(np.asarray(out).astype(np.complex64), x.T.astype(np.complex64))


def test_float64_with_x64():
    x = np.linspace(0, 1, 5)
    assert heddle.jit(jnp.exp)(x).dtype == np.float32
    with jax.enable_x64(True):
        out = heddle.jit(jnp.exp)(x)
        assert out.dtype == np.float64
        np.testing.assert_allclose(out, np.exp(x), rtol=1e-15)


def test_inside_other_transformations():
    f = heddle.jit(lambda x: (x**3).sum())
    np.testing.assert_allclose(jax.grad(f)(X), 3 * X**2, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(f)(X), (X**3).sum(), rtol=1e-4)


def test_keys_of_jax_random():
    def draw(key):
        key, own = jax.random.split(key)
        return key, jax.random.uniform(own, (3,))

    f, key = heddle.jit(draw), jax.random.key(7)
    for _ in range(3):
        wanted_key, wanted = draw(key)
        key, got = f(key)
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert key == wanted_key


def test_arrays_that_do_not_lie_dense():
    np.testing.assert_array_equal(heddle.jit(lambda x: x + 1)(X.T[::2]), X.T[::2] + 1)


def test_no_arguments_and_no_elements():
    np.testing.assert_array_equal(heddle.jit(lambda: jnp.arange(3))(), [0, 1, 2])
    assert heddle.jit(lambda x: x * 2)(np.zeros((0, 3), np.float32)).shape == (0, 3)


# ---- memory


def pointer(array):
    return array.__array_interface__["data"][0]


def test_arrays_of_numpy_are_not_copied():
    x = np.zeros(1024, np.float32)
    assert pointer(np.asarray(heddle.array(x))) == pointer(x)


def test_arrays_that_are_not_aligned_are_copied_with_the_first_call_only():
    bytes_ = np.zeros(4 * 65536 + 128, np.uint8)
    at = -bytes_.ctypes.data % 64 + 4
    x = bytes_[at:at + 4 * 65536].view(np.float32)
    ours, f = heddle.array(x), heddle.jit(lambda x: x + 1)
    assert pointer(np.asarray(ours)) == pointer(x)
    f(ours)
    x[0] = 5  # nobody may do so; it shows that the copy is the first call's
    assert np.asarray(f(ours))[0] == 1


def test_results_are_given_out_without_copies():
    y = heddle.jit(lambda x: x + 1)(X)
    assert pointer(np.asarray(y)) == pointer(np.asarray(y))
    assert not np.asarray(y).flags.writeable
    assert jnp.from_dlpack(y).unsafe_buffer_pointer() == pointer(np.asarray(y))


def test_arguments_are_not_changed():
    x = X.copy()
    out = heddle.jit(lambda v: v.at[0].set(0), donate=0)(x)
    np.testing.assert_array_equal(x, X)
    assert np.asarray(out)[0].sum() == 0


def test_a_result_outlives_its_function():
    y = np.asarray(heddle.jit(lambda x: x * 3)(X))
    np.testing.assert_array_equal(y, X * 3)


def test_an_argument_that_is_a_result_is_not_aliased():
    x = X.copy()
    y = heddle.jit(lambda v: v)(x)
    x[:] = 0
    np.testing.assert_array_equal(y, X)


class OnlyDlpack:
    """An array of somebody who speaks nothing else."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **wishes):
        return self.array.__dlpack__(**wishes)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_in_and_out_without_copies():
    x = np.arange(16, dtype=np.float32)
    assert pointer(np.asarray(heddle.array(OnlyDlpack(x)))) == pointer(x)
    np.testing.assert_array_equal(heddle.jit(lambda v: v + 1)(OnlyDlpack(x)), x + 1)
    y = heddle.array(x)
    assert pointer(np.from_dlpack(y)) == pointer(x)
    assert pointer(np.from_dlpack(y, copy=True)) != pointer(x)


def test_torch_and_back():
    torch = pytest.importorskip("torch")
    t = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    y = heddle.jit(lambda x: x * 2, out="torch")(t)
    assert torch.equal(y, t * 2)
    b = heddle.jit(lambda x: x * 2)(t.to(torch.bfloat16))
    assert b.dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("out, kind", [("numpy", np.ndarray), ("jax", jax.Array)])
def test_kinds_of_results(out, kind):
    f = heddle.jit(lambda x: (x, x.sum()), out=out)
    for results in (f(X), f(X)):
        assert all(isinstance(r, kind) for r in results)
        np.testing.assert_allclose(results[1], X.sum(), rtol=1e-5)


def test_arrays_describe_themselves():
    y = heddle.jit(lambda x: x.sum(0))(X)
    assert (y.shape, y.ndim, y.size, y.nbytes, len(y)) == ((8,), 1, 8, 32, 8)
    assert y.dtype == np.float32 and y.layout == "_" and y.mesh == {} and len(y.parts) == 1
    assert repr(y).startswith("heddle.Array([")
    assert float(heddle.jit(jnp.sum)(np.ones(3, np.float32))) == 3 and y[1:3].shape == (2,)


# ---- a mesh


def test_layouts_by_path():
    f = heddle.jit(layer, mesh={"dp": 2, "tp": 2}, layouts={"x": "dp,_", "params['w']": "_,tp"})
    y = f(params_of(), X)
    np.testing.assert_allclose(y, jax.jit(layer)(params_of(), X), rtol=1e-5, atol=1e-6)
    assert y.mesh == {"dp": 2, "tp": 2} and y.layout == "dp,tp"
    assert [p.shape for p in y.parts] == [(2, 4)] * 4


def test_layouts_by_pattern_and_spec():
    by_pattern = heddle.jit(
        layer, mesh={"tp": 2}, layouts={"params*b*": "tp", "params['w']": "_,tp"}
    )
    by_spec = heddle.jit(
        layer, mesh={"tp": 2}, layouts={"params['w']": P(None, "tp"), "*['b']": P("tp")}
    )
    assert by_pattern(params_of(), X).layout == by_spec(params_of(), X).layout == "_,tp"
    short = heddle.jit(layer, mesh={"dp": 2}, layouts={"x": P("dp")})
    assert short(params_of(), X).layout == "dp,_"


def test_a_plan_that_is_searched_for():
    f = heddle.jit(step, mesh={"dp": 2, "tp": 2}, plan="auto", layouts={"x": "dp,_"})
    params, loss = f(params_of(), X)
    reference, wanted = jax.jit(step)(params_of(), X)
    np.testing.assert_allclose(loss, wanted, rtol=1e-5)
    np.testing.assert_allclose(params["w"], reference["w"], rtol=1e-5, atol=1e-6)
    found = f.plan().data
    assert 0 < found["bound"] <= found["cost"] and found["gap"] < 0.01


def test_values_stay_where_they_are():
    f = heddle.jit(lambda x: x * 2, mesh={"dp": 2}, layouts={"x": "dp,_", "result": "dp,_"})
    y = f(X)
    z = f(y)
    np.testing.assert_allclose(z, 4 * X, rtol=1e-6)
    other = heddle.jit(lambda x: x + 1, mesh={"tp": 2}, layouts={"x": "_,tp"})
    np.testing.assert_allclose(other(z), 4 * X + 1, rtol=1e-6)


def step(params, x):
    loss, grads = jax.value_and_grad(lambda p: (layer(p, x) ** 2).mean())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def test_donated_values_keep_their_layouts():
    f = heddle.jit(
        step, mesh={"dp": 2, "tp": 2}, layouts={"params['w']": "_,tp", "x": "dp,_"}, donate="params"
    )
    reference = params = params_of()
    for _ in range(3):
        before = params
        params, loss = f(params, X)
        reference, wanted = jax.jit(step)(reference, X)
    assert params["w"].layout == "_,tp"
    assert before["w"].is_deleted()
    np.testing.assert_allclose(loss, wanted, rtol=1e-5)
    np.testing.assert_allclose(params["w"], reference["w"], rtol=1e-5, atol=1e-6)


def test_plan_files(tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text('{"mesh": "dp=2", "shard": {"arg0": "dp,_"}}')
    assert heddle.jit(lambda x: x + 1, plan=str(plan))(X).layout == "dp,_"


def test_calls_into_python():
    def flipped(x):
        return jax.pure_callback(lambda x: np.flip(x).copy(), jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    np.testing.assert_array_equal(heddle.jit(lambda x: flipped(2 * x) + 1)(X), np.flip(2 * X) + 1)


def test_printing(capsys):
    def f(x):
        jax.debug.print("sum {}", x.sum())
        return x

    g = heddle.jit(f)
    g(np.ones(4, np.float32)), g(np.zeros(4, np.float32))
    assert capsys.readouterr().out == "sum 4.0\nsum 0.0\n"


@pytest.mark.parametrize("options", [{}, {"mesh": {"dp": 4}, "layouts": {"x": "dp"}}])
def test_calls_see_whole_values_once_and_in_order(options):
    seen = []

    def note(x):
        seen.append(x.copy())
        return np.float32(x.sum())

    @heddle.jit(**options)
    def f(x):
        for i in range(3):
            x = x + io_callback(note, jax.ShapeDtypeStruct((), jnp.float32), x * i, ordered=True)
        return x

    x = np.arange(8, dtype=np.float32)
    for calls in (3, 6):
        wanted, whole = x, []
        for i in range(3):
            whole.append(wanted * i)
            wanted = wanted + whole[-1].sum()
        np.testing.assert_allclose(f(x), wanted)
        assert len(seen) == calls
        for one, other in zip(seen[-3:], whole, strict=True):
            np.testing.assert_allclose(one, other)


def test_what_a_call_into_python_raises_arrives():
    def bad(x):
        raise ValueError(f"not {x.sum()}")

    f = heddle.jit(lambda x: jax.pure_callback(bad, jax.ShapeDtypeStruct((), jnp.float32), x))
    with pytest.raises(heddle.Error, match=r"(?s)in bad.*ValueError: not 4.0"):
        f(np.ones(4, np.float32))


def test_functions_that_call_themselves_are_collected():
    class Owner:
        def __init__(self):
            self.seen = 0
            self.f = heddle.jit(self.call)

        def call(self, x):
            jax.debug.callback(self.note, x)
            return x

        def note(self, x):
            self.seen += 1

    owner = Owner()
    owner.f(np.ones(3, np.float32))
    assert owner.seen == 1
    gone = weakref.ref(owner)
    del owner
    jax.clear_caches()
    gc.collect()
    assert gone() is None


def test_a_function_on_a_mesh_does_not_wait_for_itself():
    def again(x):
        return np.asarray(f(x))

    @heddle.jit(mesh={"dp": 2}, layouts={"x": "dp"})
    def f(x):
        return jax.pure_callback(again, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    with pytest.raises(heddle.Error, match="would wait for its own end"):
        f(np.ones(4, np.float32))


def descent(w, x):
    gradient = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
    return w - 0.1 * gradient


def test_schedules_as_text_and_step_by_step(tmp_path):
    w = np.random.default_rng(2).standard_normal((8, 4)).astype(np.float32)
    sliced = heddle.schedule().split("all_reduce.0", along=0, names=("rs", "ag"))
    sliced = sliced.reorder("*", under="ag")
    assert str(sliced) == "rs, ag = split all_reduce.0 along 0\nreorder * under ag"
    sliced.save(tmp_path / "s.schedule")
    wanted = jax.jit(descent)(w, X)
    for schedule in (sliced, str(sliced), tmp_path / "s.schedule", "auto"):
        step = heddle.jit(descent, mesh={"dp": 2}, layouts={"x": "dp,_"}, schedule=schedule)
        np.testing.assert_allclose(step(w, X), wanted, rtol=1e-5, atol=1e-5)
    plan = heddle.jit(descent, mesh={"dp": 2}, layouts={"x": "dp,_"}, schedule=sliced).plan(w, X)
    assert "reduce-scatter over dp" in str(plan)


def test_schedules_that_cannot_be():
    with pytest.raises(heddle.Error, match="there is no step `splitt`"):
        heddle.schedule("splitt all_reduce.0")
    with pytest.raises(heddle.Error, match="it is a heddle.schedule"):
        heddle.jit(descent, schedule=3)
    step = heddle.jit(descent, mesh={"dp": 2}, layouts={"x": "dp,_"}, schedule="split tanh.0")
    with pytest.raises(heddle.Error, match="tanh is no all_reduce"):
        step(np.ones((8, 4), np.float32), X)
