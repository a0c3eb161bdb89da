"""More programs with shardings, for `communication.py`: recurrences, loops that add up, stencils, attention by blocks."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from models_on_meshes import conv, cross_entropy, llama, llama_tp, mesh, rms_norm, struct, structs, training

CASES = {}


def case(build):
    CASES[build.__name__] = build
    return build


def whole(key, x):
    return P()


def laid(function, arguments, on, takes, gives, trips=()):
    place = lambda specs: jax.tree.map(lambda s: NamedSharding(on, s), specs, is_leaf=lambda s: isinstance(s, P))
    return function, arguments, dict(in_shardings=place(takes), out_shardings=place(gives)), list(trips)


def recurrence(on, rule, gated):
    d, h, vocab, n, s = 256, 512, 4096, 32, 64
    gates = 3 if gated else 1
    shapes = dict(emb=(vocab, d), wx=(d, gates, h), wh=(h, gates, h), b=(gates, h), out=(h, vocab))

    def loss(p, tokens):
        def cell(hidden, now):
            z = jnp.einsum("bh,hgk->bgk", hidden, p["wh"])
            if gated:
                reset, keep = jax.nn.sigmoid(now[:, 0] + z[:, 0]), jax.nn.sigmoid(now[:, 1] + z[:, 1])
                hidden = (1 - keep) * jnp.tanh(now[:, 2] + reset * z[:, 2]) + keep * hidden
            else:
                hidden = jnp.tanh(now[:, 0] + z[:, 0])
            return hidden, hidden

        x = jnp.einsum("bsd,dgh->sbgh", p["emb"][tokens[:, :-1]], p["wx"]) + p["b"]
        _, ys = jax.lax.scan(cell, jnp.zeros((n, h)), x)
        return cross_entropy(ys.transpose(1, 0, 2) @ p["out"], tokens[:, 1:])

    return training(loss, shapes, on, rule, (struct(n, s + 1, dtype=jnp.int32),), (P("dp"),), trips=(s, s))


@case
def gated_recurrence_dp8():
    """Weights whole, batch split: their gradients are summed once."""
    return recurrence(mesh(dp=8), whole, True)


@case
def recurrence_fsdp_8():
    """Weights and batch over one axis."""
    return recurrence(mesh(dp=8), lambda k, x: P("dp") if x.shape[0] % 8 == 0 else P(), False)


@case
def one_layer_many_times_dp8():
    """The same weights in every turn."""
    d, n, s = 256, 32, 64

    def loss(p, x, y):
        turn = lambda x, _: (x + jax.nn.gelu(rms_norm(x, p["g"]) @ p["up"]) @ p["down"], None)
        x, _ = jax.lax.scan(turn, x, None, length=6)
        return ((x - y) ** 2).mean()

    return training(loss, dict(up=(d, 4 * d), down=(4 * d, d), g=(d,)), mesh(dp=8), whole, (struct(n, s, d), struct(n, s, d)), (P("dp"), P("dp")), trips=(6, 6))


@case
def gradients_of_parts_dp8():
    """Gradients of micro-batches, added up by hand."""
    d, n, parts = 512, 64, 4
    loss = lambda p, x, y: ((jax.nn.relu(x @ p["a"]) @ p["b"] - y) ** 2).mean()

    def step(p, x, y):
        add = lambda g, t: (jax.tree.map(jnp.add, g, jax.grad(loss)(p, *t)), None)
        grads, _ = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, p), (x, y))
        return jax.tree.map(lambda a, b: a - 0.01 * b, p, grads)

    params, specs = structs(dict(a=(d, d), b=(d, d))), dict(a=P(), b=P())
    batch = struct(parts, n, d)
    return laid(step, (params, batch, batch), mesh(dp=8), (specs, P(None, "dp"), P(None, "dp")), specs, [parts])


@case
def attention_by_blocks_8():
    """Softmax online over blocks of keys, tokens split."""
    b, s, h, k = 4, 2048, 8, 64
    block = s // 8

    def run(q, keys, values):
        blocks = lambda x: x.reshape(b, 8, block, h, k).transpose(1, 0, 2, 3, 4)

        def body(carried, now):
            most, total, out = carried
            score = jnp.einsum("bqhd,bkhd->bhqk", q, now[0]) / np.float32(np.sqrt(k))
            larger = jnp.maximum(most, score.max(-1))
            p, scale = jnp.exp(score - larger[..., None]), jnp.exp(most - larger)
            return (larger, total * scale + p.sum(-1), out * scale[..., None] + jnp.einsum("bhqk,bkhd->bhqd", p, now[1])), None

        start = jnp.full((b, h, s), -jnp.inf), jnp.zeros((b, h, s)), jnp.zeros((b, h, s, k))
        (_, total, out), _ = jax.lax.scan(body, start, (blocks(keys), blocks(values)))
        return (out / total[..., None]).transpose(0, 2, 1, 3)

    spec = P(None, "cp")
    return laid(run, (struct(b, s, h, k),) * 3, mesh(cp=8), (spec,) * 3, spec, [8])


@case
def attention_in_windows_8():
    """Each block of tokens looks at itself and the one before, tokens split."""
    b, s, h, k, w = 4, 2048, 8, 64, 128
    d = h * k

    def loss(p, x, y):
        split = lambda t: t.reshape(b, s // w, w, h, k)
        before = lambda t: jnp.pad(t, ((0, 0), (1, 0), (0, 0), (0, 0), (0, 0)))[:, :-1]
        both = lambda t: jnp.concatenate([before(t), t], 2)
        q, keys, values = split(x @ p["q"]), both(split(x @ p["k"])), both(split(x @ p["v"]))
        a = jax.nn.softmax(jnp.einsum("bnqhd,bnkhd->bnhqk", q, keys) / np.float32(np.sqrt(k)), -1)
        z = jnp.einsum("bnhqk,bnkhd->bnqhd", a, values).reshape(b, s, d)
        return ((x + z @ p["o"] - y) ** 2).mean()

    batch = struct(b, s, d)
    return training(loss, {n: (d, d) for n in "qkvo"}, mesh(cp=8), whole, (batch, batch), (P(None, "cp"), P(None, "cp")))


@case
def waves_on_a_staggered_grid_2x4():
    """Maxwell's equations in two dimensions, written with x.at[...].add."""
    n = 512

    def run(ez, hx, hy):
        def body(_, fields):
            ez, hx, hy = fields
            hx = hx.at[:, :-1].add(-0.5 * (ez[:, 1:] - ez[:, :-1]))
            hy = hy.at[:-1, :].add(0.5 * (ez[1:, :] - ez[:-1, :]))
            ez = ez.at[1:, 1:].add(0.5 * (hy[1:, 1:] - hy[:-1, 1:] - hx[1:, 1:] + hx[1:, :-1]))
            return ez, hx, hy
        return jax.lax.fori_loop(0, 20, body, (ez, hx, hy))

    spec = P("x", "y")
    return laid(run, (struct(n, n),) * 3, mesh(x=2, y=4), (spec,) * 3, (spec,) * 3, [20])


@case
def lattice_boltzmann_2x4():
    """Nine directions, each turned along both dimensions."""
    n = 256
    ways = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)

    def run(f):
        def body(_, f):
            mass = f.sum(0)
            u, v = (sum(way[d] * f[i] for i, way in enumerate(ways)) / mass for d in (0, 1))
            along = [x * u + y * v for x, y in ways]
            rest = jnp.stack([w * mass * (1 + 3 * a + 4.5 * a * a - 1.5 * (u * u + v * v)) for w, a in zip(weights, along)])
            f = f - 0.6 * (f - rest)
            return jnp.stack([jnp.roll(f[i], way, (0, 1)) for i, way in enumerate(ways)])
        return jax.lax.fori_loop(0, 10, body, f)

    spec = P(None, "x", "y")
    return laid(run, (struct(9, n, n),), mesh(x=2, y=4), (spec,), spec, [10])


@case
def bodies_8():
    """All bodies attract each other; masses never change."""
    n = 2048

    def run(place, speed, mass):
        def body(_, state):
            place, speed = state
            far = place[None] - place[:, None]
            square = (far * far).sum(-1) + 0.01
            pull = (mass[None, :, None] * far / (square * jnp.sqrt(square))[..., None]).sum(1)
            speed = speed + 0.01 * pull
            return place + 0.01 * speed, speed
        return jax.lax.fori_loop(0, 5, body, (place, speed))

    spec = P("x")
    return laid(run, (struct(n, 3), struct(n, 3), struct(n)), mesh(x=8), (spec,) * 3, (spec, spec), [5])


@case
def llama_on_three_axes():
    """Batch, tokens and weights, each over an axis."""
    on = mesh(dp=2, tp=2, sp=2)
    keep = lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(on, P("dp", "sp", None)))
    return llama(on, llama_tp, 8, P("dp"), layers=2, keep=keep)


@case
def separable_convolutions_on_three_axes():
    """Depthwise convolutions with squeeze and excitation; batch, height and width split."""
    n, hw, c, e = 16, 64, 32, 128
    block = dict(up=(1, 1, c, e), wide=(3, 3, 1, e), s1=(e, e // 4), s2=(e // 4, e), down=(1, 1, e, c))
    shapes = dict(stem=(3, 3, 3, c), head=(c, 1000), blocks=[block] * 3)

    def loss(p, images, labels):
        x = conv(images, p["stem"], 2)
        for b in p["blocks"]:
            h = jax.nn.relu6(conv(x, b["up"]))
            h = jax.nn.relu6(jax.lax.conv_general_dilated(h, b["wide"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=e))
            h = h * jax.nn.sigmoid(jax.nn.relu(h.mean((1, 2)) @ b["s1"]) @ b["s2"])[:, None, None]
            x = x + conv(h, b["down"])
        return cross_entropy(x.mean((1, 2)) @ p["head"], labels)

    return training(loss, shapes, mesh(dp=2, h=2, w=2), whole, (struct(n, hw, hw, 3), struct(n, dtype=jnp.int32)), (P("dp", "h", "w"), P("dp")))
