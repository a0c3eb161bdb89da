"""heddle.jit on a CUDA device: values that stay there, DLPack both ways, meshes, errors. Skipped without one."""

import heddle
import jax
import jax.numpy as jnp
import numpy as np
import pytest

try:
    heddle.array(np.zeros(1, np.float32), device="cuda")
except heddle.Error as why:
    pytest.skip(f"no GPU: {why}", allow_module_level=True)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((64, 96)).astype(np.float32)
W = RNG.standard_normal((96, 32)).astype(np.float32)


def layer(w, x):
    return jax.nn.softmax(jnp.tanh(x @ w), axis=-1)


def wanted(w, x):
    y = np.tanh(x.astype(np.float64) @ w.astype(np.float64))
    e = np.exp(y - y.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def torch_cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


def test_results_stay_there():
    y = heddle.jit(layer, device="cuda")(W, X)
    assert y.device == "cuda:0" and y.__dlpack_device__() == (2, 0)
    np.testing.assert_allclose(np.asarray(y.block_until_ready()), wanted(W, X), rtol=1e-4, atol=1e-6)
    assert "cuda:0" in repr(heddle.jit(lambda x: x, device="cuda")(np.zeros((100, 100), np.float32)))


def test_values_are_restored_there(tmp_path):
    heddle.save(tmp_path / "one", {"w": W})
    for values in (heddle.restore(tmp_path / "one", device="cuda")["['w']"],
                   heddle.restore(tmp_path / "one", {"w": W}, device="cuda")["w"]):
        assert values.device == "cuda:0"
        np.testing.assert_array_equal(values, W)


def test_many_steps_on_donated_values():
    @heddle.jit(device="cuda", donate="p")
    def step(p, g):
        return jax.tree.map(lambda a, b: a - 0.5 * b, p, g)

    p = {"a": heddle.array(X, device="cuda"), "b": np.ones((3,), np.float32)}
    g = {"a": heddle.array(X, device="cuda"), "b": heddle.array(np.ones(3, np.float32), device="cuda")}
    first = p["a"]
    for _ in range(50):
        p = step(p, g)
    assert first.is_deleted()
    np.testing.assert_allclose(p["a"], X - 25 * X, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(p["b"], np.full(3, -24.0), rtol=1e-6)
    with pytest.raises(heddle.Error, match="was donated"):
        np.asarray(first)


def test_donated_value_that_somebody_looks_at_is_not_overwritten():
    torch = torch_cuda()
    step = heddle.jit(lambda x: x + 1, device="cuda", donate="x")
    x = heddle.array(X, device="cuda")
    seen = torch.from_dlpack(x)
    y = step(x)
    np.testing.assert_array_equal(seen.cpu().numpy(), X)
    np.testing.assert_array_equal(y, X + 1)


def test_torch_in_and_out_without_copies():
    torch = torch_cuda()
    same = heddle.jit(lambda x: (x * 2, x.sum()), device="cuda")
    x = torch.randn(1000, 300, device="cuda")
    for kind in (torch.float32, torch.bfloat16, torch.float16):
        given = x.to(kind)
        double, total = same(given)
        back = torch.from_dlpack(double)
        assert back.is_cuda and back.dtype == kind
        torch.testing.assert_close(back, given * 2)
    y = heddle.jit(lambda x: x + 1, device="cuda")(x)
    assert torch.from_dlpack(y).data_ptr() == torch.from_dlpack(y).data_ptr()


def test_torch_strange_memory():
    torch = torch_cuda()
    f = heddle.jit(lambda x: x * 3, device="cuda")
    x = torch.arange(64, dtype=torch.float32, device="cuda").reshape(8, 8)
    for given in (x.t(), x[1:, :], x[:, 1:], x.flatten()[3:]):
        torch.testing.assert_close(torch.from_dlpack(f(given)), given * 3)
    np.testing.assert_array_equal(f(x.bool()), 3 * np.asarray(x.bool().cpu().numpy()))
    e = f(torch.empty(0, 4, device="cuda"))
    assert e.shape == (0, 4) and np.asarray(e).shape == (0, 4)


def test_order_of_streams_with_torch():
    torch = torch_cuda()
    f = heddle.jit(lambda x: jnp.cumsum(x, axis=0) * 2, device="cuda")
    side = torch.cuda.Stream()
    for stream in (torch.cuda.current_stream(), side):
        with torch.cuda.stream(stream):
            for turn in range(20):
                # Slow work of torch's, then ours, then torch writes over what we read.
                x = torch.zeros(2048, 512, device="cuda")
                for _ in range(5):
                    x = x + 1 + turn
                y = f(x)
                x.zero_()
                got = torch.from_dlpack(y)
                want = torch.arange(1, 2049, device="cuda", dtype=torch.float32)[:, None] * (5 * (1 + turn) * 2)
                assert torch.equal(got, want.expand_as(got)), (stream, turn)


def test_memory_goes_back_after_readers_of_other_streams():
    torch = torch_cuda()
    make = heddle.jit(lambda x: x + 1, device="cuda")
    side = torch.cuda.Stream()
    kept = []
    for turn in range(50):
        with torch.cuda.stream(side):
            seen = torch.from_dlpack(make(np.full((512, 1024), turn, np.float32)))
            busy = torch.zeros(2048, 2048, device="cuda")
            for _ in range(3):
                busy = busy @ busy
            kept.append(seen.sum() + busy[0, 0])
        del seen  # its memory may be the next result's
    torch.cuda.synchronize()
    np.testing.assert_allclose([float(k) for k in kept], [(t + 1) * 512 * 1024 for t in range(50)], rtol=1e-5)


def test_jax_gpu_arrays():
    if not any(d.platform in ("gpu", "cuda") for d in jax.devices()):
        pytest.skip("this JAX has no GPU")
    f = heddle.jit(layer, device="cuda")
    y = f(jnp.asarray(W), jnp.asarray(X))
    np.testing.assert_allclose(y, wanted(W, X), rtol=1e-4, atol=1e-6)
    back = jnp.from_dlpack(y)
    assert next(iter(back.devices())).platform in ("gpu", "cuda")
    np.testing.assert_allclose(back, wanted(W, X), rtol=1e-4, atol=1e-6)


def test_mesh_on_one_gpu():
    f = heddle.jit(layer, mesh={"dp": 4}, layouts={"x": "dp,_"}, device="cuda")
    y = f(W, X)
    assert y.layout == "dp,_" and y.device == "cuda:0" and len(y.parts) == 4
    np.testing.assert_allclose(y, wanted(W, X), rtol=1e-4, atol=1e-6)
    again = heddle.jit(lambda y: y.sum(0), mesh={"dp": 4}, layouts={"y": "dp,_"}, device="cuda")(y)
    np.testing.assert_allclose(again, wanted(W, X).sum(0), rtol=1e-4, atol=1e-5)


def test_reports():
    f = heddle.jit(layer, device="cuda")
    f(W, X)
    assert "kernel" in str(f.explain())
    assert "%" in str(f.profile(steps=3))
    assert "dp=2" in str(heddle.jit(layer, mesh={"dp": 2}, layouts={"x": "dp,_"}, device="cuda").plan(W, X))


def test_wrong_use():
    x = heddle.array(X, device="cuda")
    with pytest.raises(heddle.Error, match="on cuda:0 came in, and the function runs on cpu"):
        heddle.jit(lambda x: x + 1)(x)
    with pytest.raises(heddle.Error, match="there is no device cuda:77"):
        heddle.jit(lambda x: x + 1, device="cuda:77")(X)
    x.delete()
    with pytest.raises(heddle.Error, match="was deleted"):
        heddle.jit(lambda x: x + 1, device="cuda")(x)
    with pytest.raises(heddle.Error, match="was deleted"):
        x.__dlpack__()
    with pytest.raises(heddle.Error, match="has no room for"):
        heddle.jit(lambda x: jnp.broadcast_to(x, (1 << 20, 1 << 20)) * 1.0, device="cuda")(np.float32(1))


@pytest.fixture
def arrays():
    """heddle.numpy with its windows there, which wait for their kernels."""
    hn = pytest.importorskip("heddle.numpy")
    from heddle.numpy._core import recorded

    hn.device("cuda")
    recorded.set_direct("never")
    yield hn
    recorded.set_direct("")
    hn.device("cpu")


def test_recorded_arrays_stay_there(arrays):
    def program(np):
        x = np.linspace(0.0, 1.0, 300_000)
        y = np.zeros(300_000)
        for turn in range(12):
            y[1:-1] = (x[:-2] + x[2:]) * 0.5 + turn
            x = np.sin(y) + x
        return x

    assert arrays.device() == "cuda:0"
    x = program(arrays)
    arrays.flush()
    x *= 2.0
    arrays.flush()
    assert arrays.counts()["launches"] > 0 and "run on cuda:0" in arrays.explain()
    np.testing.assert_allclose(np.asarray(x), 2 * program(np), rtol=1e-9)


def test_recorded_products_and_transforms_there(arrays):
    a = arrays.asarray(RNG.standard_normal((400, 400)))
    host = np.asarray(a)
    np.testing.assert_allclose(np.asarray(a @ a + a), host @ host + host, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.asarray(arrays.fft.fft(a)), np.fft.fft(host), rtol=1e-9, atol=1e-9)
    assert float(a.sum()) == pytest.approx(host.sum(), rel=1e-9)
    small = arrays.ones(10)
    assert float((small + 1).sum()) == 20.0
