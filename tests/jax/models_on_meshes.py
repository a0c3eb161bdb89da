"""Training steps of models with shardings, for `communication.py`: each a function that gives a step, its
arguments, how these lie, and how often its loops run. Adam and all layers are plain JAX."""
import functools
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

CASES = {}


def case(build):
    CASES[build.__name__] = build
    return build


def mesh(**axes):
    return Mesh(np.array(jax.devices()[:int(np.prod(list(axes.values())))]).reshape(*axes.values()), tuple(axes))


def struct(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def structs(shapes):
    return jax.tree.map(lambda s: struct(*s), shapes, is_leaf=lambda s: isinstance(s, tuple))


def adam(loss):
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["v"], grads)
        params = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / (jnp.sqrt(v) + 1e-6) + 0.01 * p), params, first, second)
        return value, params, {"m": first, "v": second}
    return step


def training(loss, shapes, on, rule, batch, lie, trips=(), state_rule=None):
    """A step of Adam: parameters by `rule`, its states by `state_rule`, the batch as `lie` says."""
    params = structs(shapes)
    place = lambda spec: NamedSharding(on, spec)
    by = lambda r: jax.tree_util.tree_map_with_path(lambda k, x: place(r(jax.tree_util.keystr(k), x)), params)
    weights, states = by(rule), by(state_rule or rule)
    both = {"m": states, "v": states}
    options = dict(in_shardings=(weights, both, *map(place, lie)), out_shardings=(place(P()), weights, both))
    return adam(loss), (params, {"m": params, "v": params}, *batch), options, list(trips)


def layer_norm(x, p):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * p["g"] + p["b"]


def rms_norm(x, g):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g


def cross_entropy(logits, labels):
    logp = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.take_along_axis(logp, labels[..., None], axis=-1).mean()


def norm_of(d):
    return dict(g=(d,), b=(d,))


def attention_of(d):
    return dict(n=norm_of(d), q=(d, d), k=(d, d), v=(d, d), o=(d, d))


def feed_of(d, ff):
    return dict(n=norm_of(d), up=(d, ff), up_b=(ff,), down=(ff, d), down_b=(d,))


def attend(p, x, memory, heads, bias=None):
    b, s, d = x.shape
    split = lambda t: t.reshape(b, t.shape[1], heads, d // heads)
    q, k, v = split(x @ p["q"]), split(memory @ p["k"]), split(memory @ p["v"])
    a = jnp.einsum("bshd,bthd->bhst", q, k) / np.float32(np.sqrt(d // heads))
    a = jax.nn.softmax(a if bias is None else a + bias, axis=-1)
    return jnp.einsum("bhst,bthd->bshd", a, v).reshape(b, s, d) @ p["o"]


def feed(p, x):
    return jax.nn.gelu(x @ p["up"] + p["up_b"]) @ p["down"] + p["down_b"]


def columns_and_rows(key, x, tp="tp"):
    """Megatron: the first product of a pair by columns, the second by rows."""
    name = key.split("'")[-2] if "'" in key else key
    if name in ("q", "k", "v", "up", "gate"):
        return P(None, tp)
    if name in ("o", "down"):
        return P(tp, None)
    return P(tp) if name == "up_b" else P()


@case
def vit_dp2_tp4():
    """A vision transformer: patches by a convolution, a class token, batch and heads split."""
    d, layers, heads, n, hw = 512, 3, 8, 32, 128
    patch = 16
    tokens = (hw // patch) ** 2 + 1
    shapes = dict(patch=(patch, patch, 3, d), cls=(d,), pos=(tokens, d), nf=norm_of(d), head=(d, 1000),
                  blocks=[dict(att=attention_of(d), ff=feed_of(d, 4 * d)) for _ in range(layers)])

    def loss(p, images, labels):
        x = jax.lax.conv_general_dilated(images, p["patch"], (patch, patch), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = x.reshape(n, -1, d)
        x = jnp.concatenate([jnp.broadcast_to(p["cls"], (n, 1, d)), x], 1) + p["pos"]
        for block in p["blocks"]:
            h = layer_norm(x, block["att"]["n"])
            x = x + attend(block["att"], h, h, heads)
            x = x + feed(block["ff"], layer_norm(x, block["ff"]["n"]))
        return cross_entropy(layer_norm(x[:, 0], p["nf"]) @ p["head"], labels)

    return training(loss, shapes, mesh(dp=2, tp=4), columns_and_rows, (struct(n, hw, hw, 3), struct(n, dtype=jnp.int32)), (P("dp"), P("dp")))


@case
def t5_tp8():
    """Encoder and decoder with biases by distance, one table for both, split over the vocabulary."""
    d, layers, heads, n, s, t, vocab = 512, 2, 8, 8, 128, 64, 8192
    shapes = dict(emb=(vocab, d), near=(32, heads), nf=norm_of(d),
                  enc=[dict(att=attention_of(d), ff=feed_of(d, 4 * d)) for _ in range(layers)],
                  dec=[dict(own=attention_of(d), att=attention_of(d), ff=feed_of(d, 4 * d)) for _ in range(layers)])

    def rule(key, x):
        if "'emb'" in key:
            return P("tp", None)
        return P(None, "tp") if "'near'" in key else columns_and_rows(key, x)

    def bias(p, rows, columns):
        far = jnp.clip(jnp.arange(rows)[:, None] - jnp.arange(columns)[None, :] + 16, 0, 31)
        return p["near"][far].transpose(2, 0, 1)[None]

    def loss(p, source, target):
        x = p["emb"][source]
        for block in p["enc"]:
            h = layer_norm(x, block["att"]["n"])
            x = x + attend(block["att"], h, h, heads, bias(p, s, s))
            x = x + feed(block["ff"], layer_norm(x, block["ff"]["n"]))
        memory = layer_norm(x, p["nf"])
        y = p["emb"][target[:, :-1]]
        hidden = jnp.where(jnp.tril(jnp.ones((t, t), bool)), 0.0, -1e9)
        for block in p["dec"]:
            h = layer_norm(y, block["own"]["n"])
            y = y + attend(block["own"], h, h, heads, bias(p, t, t) + hidden)
            y = y + attend(block["att"], layer_norm(y, block["att"]["n"]), memory, heads)
            y = y + feed(block["ff"], layer_norm(y, block["ff"]["n"]))
        return cross_entropy(layer_norm(y, p["nf"]) @ p["emb"].T, target[:, 1:])

    return training(loss, shapes, mesh(tp=8), rule, (struct(n, s, dtype=jnp.int32), struct(n, t + 1, dtype=jnp.int32)), (P(), P()))


def llama_shapes(layers, d, ff, vocab, heads, kv):
    hd = d // heads
    block = dict(n1=(d,), n2=(d,), q=(d, d), k=(d, kv * hd), v=(d, kv * hd), o=(d, d), gate=(d, ff), up=(d, ff), down=(ff, d))
    return dict(emb=(vocab, d), nf=(d,), head=(d, vocab), blocks=[block for _ in range(layers)])


def turned(x, base=10000.0):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * base ** (-jnp.arange(half, dtype=jnp.float32) / half)
    c, s = jnp.cos(angle)[:, None, :], jnp.sin(angle)[:, None, :]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


def llama_loss(p, tokens, heads, kv, keep=lambda x: x, repeat=False):
    x = keep(p["emb"][tokens[:, :-1]])
    b, s, d = x.shape
    hd = d // heads
    mask = jnp.tril(jnp.ones((s, s), bool))
    for block in p["blocks"]:
        h = rms_norm(x, block["n1"])
        q = turned((h @ block["q"]).reshape(b, s, heads, hd))
        k = turned((h @ block["k"]).reshape(b, s, kv, hd))
        v = (h @ block["v"]).reshape(b, s, kv, hd)
        if repeat:
            k, v = jnp.repeat(k, heads // kv, 2), jnp.repeat(v, heads // kv, 2)
            a = jnp.einsum("bshd,bthd->bhst", q, k) / np.float32(np.sqrt(hd))
            a = jax.nn.softmax(jnp.where(mask, a, -1e30), axis=-1)
            y = jnp.einsum("bhst,bthd->bshd", a, v)
        else:
            q = q.reshape(b, s, kv, heads // kv, hd)
            a = jnp.einsum("bsghd,btgd->bghst", q, k) / np.float32(np.sqrt(hd))
            a = jax.nn.softmax(jnp.where(mask, a, -1e30), axis=-1)
            y = jnp.einsum("bghst,btgd->bsghd", a, v)
        x = keep(x + y.reshape(b, s, d) @ block["o"])
        h = rms_norm(x, block["n2"])
        x = keep(x + (jax.nn.silu(h @ block["gate"]) * (h @ block["up"])) @ block["down"])
    return cross_entropy(rms_norm(x, p["nf"]) @ p["head"], tokens[:, 1:])


def llama(on, rule, kv, lie, layers=3, batch=16, seq=256, state_rule=None, keep=None, repeat=False):
    d, ff, vocab, heads = 512, 1536, 8192, 8
    keep = keep or (lambda x: x)
    loss = functools.partial(llama_loss, heads=heads, kv=kv, keep=keep, repeat=repeat)
    return training(loss, llama_shapes(layers, d, ff, vocab, heads, kv), on, rule, (struct(batch, seq + 1, dtype=jnp.int32),), (lie,), state_rule=state_rule)


def llama_tp(key, x):
    if "'emb'" in key:
        return P("tp", None)
    return P(None, "tp") if "'head'" in key else columns_and_rows(key, x)


@case
def gqa_tp4_kv2_repeated():
    """Fewer groups than parts: keys and values are whole, and repeated for their queries."""
    rule = lambda key, x: P() if key.endswith("['k']") or key.endswith("['v']") else llama_tp(key, x)
    return llama(mesh(dp=2, tp=4), rule, 2, P("dp"), repeat=True)


@case
def gqa_tp4_kv2_columns():
    """Fewer groups than parts, and keys and values split by columns all the same."""
    return llama(mesh(dp=2, tp=4), llama_tp, 2, P("dp"))


def both_dims(key, x):
    """Weights split both ways: by Megatron over tp, and what is left over dp."""
    spec = llama_tp(key, x)
    if len(x.shape) < 2:
        return spec
    return P(*["dp" if a is None else a for a in (list(spec) + [None] * (2 - len(spec)))])


@case
def fsdp_tp_2x4():
    """Weights over both axes, batch over one of them."""
    return llama(mesh(dp=2, tp=4), both_dims, 8, P("dp"))


@case
def sequence_parallel_tp8():
    """Between the pairs of products tokens are split over the axis of the weights."""
    on = mesh(tp=8)
    keep = lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(on, P(None, "tp", None)))
    return llama(on, llama_tp, 8, P(), keep=keep)


@case
def context_parallel_8():
    """All tokens of a sequence split, weights whole."""
    on = mesh(cp=8)
    keep = lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(on, P(None, "cp", None)))
    return llama(on, lambda k, x: P(), 2, P(), keep=keep, batch=4, seq=1024)


@case
def zero1_llama_dp4_tp2():
    """Optimiser's states split over the batch's axis too."""
    return llama(mesh(dp=4, tp=2), llama_tp, 8, P("dp"), state_rule=lambda k, x: both_dims(k, x))


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@case
def conv_channels_tp8():
    """Pairs of convolutions, the first by its channels out, the second by its channels in."""
    c, n, hw, layers = 256, 8, 32, 4
    shapes = dict(stem=(3, 3, 3, c), head=(c, 100), blocks=[dict(n=norm_of(c), a=(3, 3, c, 2 * c), b=(3, 3, 2 * c, c)) for _ in range(layers)])

    def rule(key, x):
        if len(x.shape) < 4 or "stem" in key:
            return P()
        return P(None, None, None, "tp") if key.endswith("['a']") else P(None, None, "tp", None)

    def loss(p, images, labels):
        x = conv(images, p["stem"])
        for block in p["blocks"]:
            x = x + conv(jax.nn.relu(conv(layer_norm(x, block["n"]), block["a"])), block["b"])
        return cross_entropy(x.mean((1, 2)) @ p["head"], labels)

    return training(loss, shapes, mesh(tp=8), rule, (struct(n, hw, hw, 3), struct(n, dtype=jnp.int32)), (P(), P()))


@case
def conv_columns_dp2_tp4():
    """All convolutions by their channels out, with group norms; batch over the other axis."""
    c, n, hw, layers, groups = 128, 16, 32, 3, 8
    shapes = dict(stem=(3, 3, 3, c), head=(c, 128), blocks=[dict(n=norm_of(c), a=(3, 3, c, c), b=(1, 1, c, c)) for _ in range(layers)])
    rule = lambda key, x: P(*([None] * (len(x.shape) - 1)), "tp")

    def grouped(x, p):
        y = x.reshape(*x.shape[:3], groups, -1)
        y = y - y.mean((1, 2, 4), keepdims=True)
        y = y * jax.lax.rsqrt((y * y).mean((1, 2, 4), keepdims=True) + 1e-5)
        return y.reshape(x.shape) * p["g"] + p["b"]

    def loss(p, images, labels):
        x = conv(images, p["stem"])
        for block in p["blocks"]:
            x = x + conv(jax.nn.silu(conv(grouped(x, block["n"]), block["a"])), block["b"])
        return cross_entropy(x.mean((1, 2)) @ p["head"], labels)

    return training(loss, shapes, mesh(dp=2, tp=4), rule, (struct(n, hw, hw, 3), struct(n, dtype=jnp.int32)), (P("dp"), P("dp")))


@case
def vocabulary_tp8():
    """A bag of words: table and head split over the vocabulary, smoothed labels."""
    vocab, d, n, s = 32768, 256, 64, 64
    shapes = dict(emb=(vocab, d), mid=(d, d), head=(d, vocab), head_b=(vocab,))
    rule = lambda key, x: P("tp", None) if "'emb'" in key else P(None, "tp") if key.endswith("['head']") else P("tp") if "head_b" in key else P()

    def loss(p, tokens, labels):
        x = jnp.tanh(p["emb"][tokens].mean(1) @ p["mid"])
        logits = x @ p["head"] + p["head_b"]
        wanted = 0.9 * jax.nn.one_hot(labels, vocab) + 0.1 / vocab
        return -(wanted * jax.nn.log_softmax(logits)).sum(-1).mean()

    return training(loss, shapes, mesh(tp=8), rule, (struct(n, s, dtype=jnp.int32), struct(n, dtype=jnp.int32)), (P(), P()))


@case
def lstm_dp2_tp4():
    """A recurrent cell under scan: gates split by hidden unit, batch over the other axis."""
    d, h, vocab, n, s = 256, 512, 4096, 32, 64
    shapes = dict(emb=(vocab, d), wx=(d, 4, h), wh=(h, 4, h), b=(4, h), out=(h, vocab))
    rule = lambda key, x: P(None, None, "tp") if len(x.shape) == 3 else P(None, "tp") if "'b'" in key or "'out'" in key else P()

    def loss(p, tokens):
        x = jnp.einsum("bsd,dgh->sbgh", p["emb"][tokens[:, :-1]], p["wx"]) + p["b"]

        def cell(carried, now):
            hidden, memory = carried
            z = now + jnp.einsum("bh,hgk->bgk", hidden, p["wh"])
            memory = jax.nn.sigmoid(z[:, 1] + 1) * memory + jax.nn.sigmoid(z[:, 0]) * jnp.tanh(z[:, 2])
            hidden = jax.nn.sigmoid(z[:, 3]) * jnp.tanh(memory)
            return (hidden, memory), hidden

        zero = jnp.zeros((n, h))
        _, ys = jax.lax.scan(cell, (zero, zero), x)
        return cross_entropy(ys.transpose(1, 0, 2) @ p["out"], tokens[:, 1:])

    return training(loss, shapes, mesh(dp=2, tp=4), rule, (struct(n, s + 1, dtype=jnp.int32),), (P("dp"),), trips=(s, s))


@case
def experts_top2_2x4():
    """Two experts for each token in groups, experts over one axis and batch over both."""
    d, ff, experts, groups, s, vocab, layers = 256, 1024, 8, 16, 128, 4096, 2
    capacity = 2 * s // experts * 2
    shapes = dict(emb=(vocab, d), head=(d, vocab), blocks=[dict(n=norm_of(d), gate=(d, experts), up=(experts, d, ff), down=(experts, ff, d)) for _ in range(layers)])
    on = mesh(dp=2, ep=4)
    rule = lambda key, x: P("ep") if len(x.shape) == 3 else P()

    def layer(p, x):
        probs = jax.nn.softmax(x @ p["gate"], axis=-1)
        weight, chosen = jax.lax.top_k(probs, 2)
        hot = jax.nn.one_hot(chosen, experts)
        place = jnp.cumsum(hot.transpose(0, 2, 1, 3).reshape(groups, 2 * s, experts), axis=1).reshape(groups, 2, s, experts).transpose(0, 2, 1, 3) * hot - 1
        keep = (place >= 0) & (place < capacity)
        slot = jax.nn.one_hot(jnp.where(keep, place, -1).max(-1).astype(jnp.int32), capacity)
        combine = jnp.einsum("gsk,gske,gskc->gsec", weight, hot * keep, slot)
        h = jnp.einsum("gsec,gsd->egcd", (combine > 0).astype(x.dtype), x)
        h = jax.lax.with_sharding_constraint(h, NamedSharding(on, P("ep", "dp")))
        h = jax.nn.gelu(jnp.einsum("egcd,edf->egcf", h, p["up"]))
        h = jnp.einsum("egcf,efd->egcd", h, p["down"])
        h = jax.lax.with_sharding_constraint(h, NamedSharding(on, P("ep", "dp")))
        return jnp.einsum("gsec,egcd->gsd", combine, h)

    def loss(p, tokens):
        x = p["emb"][tokens[:, :-1]]
        for block in p["blocks"]:
            x = x + layer(block, layer_norm(x, block["n"]))
        return cross_entropy(x @ p["head"], tokens[:, 1:])

    return training(loss, shapes, on, rule, (struct(groups, s + 1, dtype=jnp.int32),), (P(("dp", "ep")),))


@case
def lamb_states_dp8():
    """Clipped gradients and trust ratios: norms of all, states split, weights whole."""
    d, layers, n = 512, 6, 64
    shapes = dict(first=(64, d), last=(d, 64), mid=[dict(w=(d, d), b=(d,)) for _ in range(layers)])
    on = mesh(dp=8)
    place = lambda spec: NamedSharding(on, spec)
    params = structs(shapes)
    split = jax.tree.map(lambda x: place(P(*["dp" if i == 0 and x.shape[0] % 8 == 0 else None for i in range(len(x.shape))])), params)
    whole = jax.tree.map(lambda x: place(P()), params)

    def loss(p, x, y):
        h = x @ p["first"]
        for layer in p["mid"]:
            h = jax.nn.relu(h @ layer["w"] + layer["b"])
        return ((h @ p["last"] - y) ** 2).mean()

    def step(params, state, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, state["v"], grads)

        def updated(p, m, v):
            u = m / (jnp.sqrt(v) + 1e-6) + 0.01 * p
            return p - 1e-3 * jnp.sqrt((p * p).sum() / (u * u).sum()) * u
        return value, jax.tree.map(updated, params, first, second), {"m": first, "v": second}

    both = {"m": split, "v": split}
    return step, (params, {"m": params, "v": params}, struct(n, 64), struct(n, 64)), dict(
        in_shardings=(whole, both, place(P("dp")), place(P("dp"))), out_shardings=(place(P()), whole, both)), []


@case
def tables_of_a_recommender_8():
    """Tables of categories split by rows, dense layers by the batch."""
    rows, d, tables, n = 16384, 64, 8, 1024
    shapes = dict(tables=[(rows, d) for _ in range(tables)], dense=(64, d), top=((tables + 1) * tables // 2 + d, 256), out=(256, 1))
    rule = lambda key, x: P("dp", None) if "'tables'" in key else P()

    def loss(p, x, places, y):
        parts = jnp.stack([jax.nn.relu(x @ p["dense"])] + [t[places[:, i]] for i, t in enumerate(p["tables"])], 1)
        pairs = jnp.einsum("bid,bjd->bij", parts, parts)
        i, j = np.tril_indices(tables + 1, -1)
        h = jnp.concatenate([pairs[:, i, j], parts[:, 0]], 1)
        z = (jax.nn.relu(h @ p["top"]) @ p["out"])[:, 0]
        return (jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z)))).mean()

    return training(loss, shapes, mesh(dp=8), rule, (struct(n, 64), struct(n, tables, dtype=jnp.int32), struct(n)), (P("dp"), P("dp"), P("dp")))


@case
def graph_edges_8():
    """Messages along edges that are split, summed into whole nodes."""
    nodes, edges, d = 4096, 32768, 128
    shapes = dict(msg=[(2 * d, d) for _ in range(2)], upd=[(2 * d, d) for _ in range(2)], out=(d, 1))

    def loss(p, x, source, target, y):
        for m, u in zip(p["msg"], p["upd"]):
            message = jax.nn.relu(jnp.concatenate([x[source], x[target]], -1) @ m)
            got = jax.ops.segment_sum(message, target, nodes)
            x = x + jax.nn.relu(jnp.concatenate([x, got], -1) @ u)
        return ((x @ p["out"])[:, 0] - y).var()

    index = lambda: struct(edges, dtype=jnp.int32)
    return training(loss, shapes, mesh(dp=8), lambda k, x: P(), (struct(nodes, d), index(), index(), struct(nodes)), (P(), P("dp"), P("dp"), P()))


@case
def spectral_rows_8():
    """A Fourier operator on images split by height."""
    n, hw, c, modes, layers = 4, 128, 32, 16, 2
    shapes = dict(lift=(3, c), out=(c, 1), re=[(modes, modes, c, c) for _ in range(layers)], im=[(modes, modes, c, c) for _ in range(layers)], skip=[(c, c) for _ in range(layers)])

    def loss(p, x, y):
        h = x @ p["lift"]
        for re, im, skip in zip(p["re"], p["im"], p["skip"]):
            f = jnp.fft.rfft2(h, axes=(1, 2))[:, :modes, :modes]
            f = jnp.einsum("nxyc,xycd->nxyd", f, re + 1j * im)
            f = jnp.pad(f, ((0, 0), (0, hw - modes), (0, hw // 2 + 1 - modes), (0, 0)))
            h = jax.nn.gelu(jnp.fft.irfft2(f, s=(hw, hw), axes=(1, 2)) + h @ skip)
        return ((h @ p["out"] - y) ** 2).mean()

    return training(loss, shapes, mesh(sp=8), lambda k, x: P(), (struct(n, hw, hw, 3), struct(n, hw, hw, 1)), (P(None, "sp"), P(None, "sp")))


@case
def state_space_dp2_tp4():
    """A diagonal recurrence by an associative scan, channels split."""
    d, n, s, layers, vocab = 512, 8, 256, 2, 4096
    shapes = dict(emb=(vocab, d), head=(d, vocab), blocks=[dict(n=norm_of(d), q=(d, d), k=(d, d), gate=(d, d), o=(d, d)) for _ in range(layers)])

    def loss(p, tokens):
        x = p["emb"][tokens[:, :-1]]
        for block in p["blocks"]:
            h = layer_norm(x, block["n"])
            decay, new = jax.nn.sigmoid(h @ block["k"]), h @ block["q"]
            join = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
            _, y = jax.lax.associative_scan(join, (decay, new * (1 - decay)), axis=1)
            x = x + (y * jax.nn.silu(h @ block["gate"])) @ block["o"]
        return cross_entropy(x @ p["head"], tokens[:, 1:])

    return training(loss, shapes, mesh(dp=2, tp=4), columns_and_rows, (struct(n, s + 1, dtype=jnp.int32),), (P("dp"),))


@case
def heat_rows_8():
    """Steps of an explicit scheme in three dimensions, with walls."""
    n = 128
    on = mesh(x=8)
    place = NamedSharding(on, P("x"))

    def run(u):
        def body(_, u):
            inner = u[1:-1, 1:-1, 1:-1]
            around = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
            return u.at[1:-1, 1:-1, 1:-1].set(inner + 0.1 * (around - 6 * inner))
        return jax.lax.fori_loop(0, 10, body, u)

    return run, (struct(n, n, n),), dict(in_shardings=(place,), out_shardings=place), [10]


@case
def kmeans_rows_8():
    """Ten rounds of k-means, points split."""
    n, d, k = 16384, 32, 64
    on = mesh(x=8)

    def run(points, centres):
        def body(_, centres):
            far = ((points[:, None] - centres[None]) ** 2).sum(-1)
            hot = jax.nn.one_hot(far.argmin(-1), k)
            return (hot.T @ points) / jnp.maximum(hot.sum(0), 1)[:, None]
        return jax.lax.fori_loop(0, 10, body, centres)

    whole = NamedSharding(on, P())
    return run, (struct(n, d), struct(k, d)), dict(in_shardings=(NamedSharding(on, P("x")), whole), out_shardings=whole), [10]
