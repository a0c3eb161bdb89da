"""The programs of programs.py for torch. `wide` is the type that they compute in: float32 where they are timed,
float64, and then also what they give, where results are checked against them.

    bench/h200/peers.py NAME... [--autotune]     compiles them once, so that the next process finds them in its cache
"""

import argparse
import os

import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F

DEVICE = "cuda"
BF16, F8 = torch.bfloat16, torch.float8_e4m3fn


def narrowed(x, dtype):
    return x if x.dtype == torch.float64 else x.to(dtype)


def softmax(x, wide):
    return narrowed(torch.softmax(x.to(wide), -1), BF16)


def normalised(h, gain, shift, wide):
    centred = h - h.mean(-1, keepdim=True)
    scale = torch.rsqrt((centred**2).mean(-1, keepdim=True) + 1e-5)
    return centred * scale * gain.to(wide) + shift.to(wide)


def gelu_residual_norm(x, residual, bias, gain, shift, wide):
    h = F.gelu(x.to(wide) + bias.to(wide), approximate="tanh") + residual.to(wide)
    return narrowed(normalised(h, gain, shift, wide), BF16), narrowed(h, BF16)


def norm_backward(dy, x, gain, mean, scale, wide):
    dy, mean, scale = dy.to(wide), mean.to(wide), scale.to(wide)
    hat = (x.to(wide) - mean) * scale
    weighted = dy * gain.to(wide)
    along = (weighted * hat).mean(-1, keepdim=True) * hat + weighted.mean(-1, keepdim=True)
    return narrowed((weighted - along) * scale, BF16), (dy * hat).sum(0), dy.sum(0)


def rms_normalised(h, gain, wide):
    return h * torch.rsqrt((h * h).mean(-1, keepdim=True) + 1e-6) * gain.to(wide)


def residual_norm_int8(x, residual, gain, wide):
    h = x.to(wide) + residual.to(wide)
    y = rms_normalised(h, gain, wide)
    step = y.abs().amax(-1, keepdim=True) / 127
    return torch.round(y / step).clamp(-127, 127).to(torch.int8), step, narrowed(h, BF16)


def norm_fp8(x, gain, wide):
    y = rms_normalised(x.to(wide), gain, wide)
    blocks = y.view(y.shape[0], -1, 128)
    step = (blocks.abs().amax(-1, keepdim=True) / 448).clamp_min(1e-30)
    return narrowed(blocks / step, F8).view(y.shape), step[..., 0]


def masked_softmax(scores, mask, wide):
    return softmax(torch.where(mask, scores.to(wide) * 0.125, -1e30), wide)


def softmax_backward(p, dp, wide):
    p, dp = p.to(wide), dp.to(wide)
    return narrowed(p * (dp - (p * dp).sum(-1, keepdim=True)), BF16)


def cross_entropy(logits, labels, wide):
    x, labels = logits.to(wide), labels.long()[:, None]
    top = x.amax(-1, keepdim=True)
    powers = torch.exp(x - top)
    total = powers.sum(-1, keepdim=True)
    loss = (torch.log(total) + top).squeeze(-1) - x.gather(1, labels).squeeze(-1)
    is_label = (torch.arange(x.shape[1], device=x.device)[None] == labels).to(wide)
    return loss.mean(), narrowed((powers / total - is_label) / x.shape[0], BF16)


def gelu_gradient(x, dy, wide):
    x, dy = x.to(wide), dy.to(wide)
    gate = torch.sigmoid(1.702 * x)
    dx = dy * (gate * (1 + 1.702 * x * (1 - gate)))
    return narrowed(dx, BF16), dx.sum(0)


def group_norm(x, gain, shift, wide):
    b, h, w, c = x.shape
    g = x.to(wide).view(b, h * w, 32, c // 32)
    centred = g - g.mean((1, 3), keepdim=True)
    g = centred * torch.rsqrt((centred**2).mean((1, 3), keepdim=True) + 1e-5)
    y = g.view(b, h, w, c) * gain.to(wide) + shift.to(wide)
    return narrowed(y * torch.sigmoid(y), BF16)


def moments(w, g, m, v, wide):
    w, g, m, v = (t.to(wide) for t in (w, g, m, v))
    return w, 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g


def adam(weights, gradients, first, second, wide):
    out = []
    for tensors in zip(weights, gradients, first, second):
        w, m, v = moments(*tensors, wide)
        out.append((w - 1e-3 * m / (torch.sqrt(v) + 1e-8), m, v))
    return out


def lamb(weights, gradients, first, second, wide):
    out = []
    for tensors in zip(weights, gradients, first, second):
        w, m, v = moments(*tensors, wide)
        step = m / (torch.sqrt(v) + 1e-6) + 0.01 * w
        trust = torch.sqrt((w * w).sum()) / torch.sqrt((step * step).sum())
        out.append((w - 1e-3 * trust * step, m, v))
    return out


def black_scholes(price, strike, years, wide):
    price, strike, years = price.to(wide), strike.to(wide), years.to(wide)
    rate, spread = 0.02, 0.3
    root = spread * torch.sqrt(years)
    d1 = (torch.log(price / strike) + (rate + 0.5 * spread * spread) * years) / root
    d2 = d1 - root
    below = lambda d: 0.5 * (1 + torch.erf(d * 0.70710678))
    later = strike * torch.exp(-rate * years)
    return price * below(d1) - later * below(d2), later * below(-d2) - price * below(-d1)


def jacobi(x, wide):
    x = x.to(wide)
    for _ in range(8):
        x = F.pad(0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]), (1, 1, 1, 1))
    return x


def transposed_norm(x, gain, shift, wide):
    return narrowed(normalised(x.to(wide).flatten(2).transpose(1, 2), gain, shift, wide), BF16)


def recurrence(h, steps, weight, wide):
    h, steps, weight = h.to(wide), steps.to(wide), weight.to(wide)
    for t in range(steps.shape[0]):
        z = torch.sigmoid(steps[t] * weight + h)
        n = torch.tanh(steps[t] + z * h)
        h = (1 - z) * n + z * h
        h = h / (1e-5 + (h * h).mean(-1, keepdim=True)).sqrt()
    return h


def cumsum(x, wide):
    return torch.cumsum(x.to(wide), -1)


FUNCTIONS = {
    "softmax": softmax, "bias+gelu": gelu_residual_norm, "layernorm backward": norm_backward,
    "residual+rmsnorm": residual_norm_int8, "rmsnorm+fp8": norm_fp8, "masked softmax": masked_softmax,
    "softmax backward": softmax_backward, "cross entropy": cross_entropy, "gelu gradient": gelu_gradient,
    "groupnorm": group_norm, "adam": adam, "lamb": lamb, "black-scholes": black_scholes, "jacobi": jacobi,
    "cumsum": cumsum, "transpose": transposed_norm, "recurrence": recurrence,
}


def function_of(name):
    """That of the longest beginning of the program's name."""
    return FUNCTIONS[max((key for key in FUNCTIONS if name.startswith(key)), key=len)]


def to_torch(array):
    """Of types that numpy has by way of ml_dtypes, too."""
    special = {ml_dtypes.bfloat16: (np.uint16, BF16), ml_dtypes.float8_e4m3fn: (np.uint8, F8)}
    bits, dtype = special.get(array.dtype.type, (None, None))
    if bits is None:
        return torch.from_numpy(array).to(DEVICE)
    return torch.from_numpy(array.view(bits)).to(DEVICE).view(dtype)


def filled(argument, numbers):
    """The numbers, over and over."""
    count, given = argument.count(), to_torch(numbers)
    bits = given.view(torch.uint8) if given.dtype == F8 else given
    whole = bits if count == len(numbers) else bits.repeat(-(-count // len(numbers)))[:count].clone()
    return whole.view(given.dtype).view(argument.shape)


def compiled(name, autotune=False):
    """A function of the program's arguments, in float32."""
    torch._dynamo.reset()
    function = function_of(name)
    return torch.compile(lambda *arguments: function(*arguments, torch.float32), dynamic=False,
                         **({"mode": "max-autotune-no-cudagraphs"} if autotune else {}))


def nested(programs_arguments, leaves):
    """The leaves, one after the other, as arguments: lists of tensors stay lists."""
    rest = iter(leaves)
    return [[next(rest) for _ in a] if isinstance(a, list) else next(rest) for a in programs_arguments]


def main():
    parser = argparse.ArgumentParser(description="Compiles programs by torch, for the cache.")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--autotune", action="store_true")
    options = parser.parse_args()
    import jax
    jax.config.update("jax_platforms", "cpu")
    import programs
    generator = np.random.default_rng(0)
    for program in programs.PROGRAMS:
        if program.name not in options.names:
            continue
        leaves = [filled(a, a.numbers(generator, 257)) for a in program.leaves()]
        compiled(program.name, options.autotune)(*nested(program.arguments, leaves))
        torch.cuda.synchronize()
        del leaves
        torch.cuda.empty_cache()


if __name__ == "__main__":
    os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "1")
    main()
