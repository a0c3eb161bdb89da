"""The training steps of steps_jax.py for torch, on the same flat lists of parameters. Forward and backward pass are compiled
by torch.compile in its usual mode; the update is torch's own fused kernel, which changes parameters where they lie."""
import time

import numpy as np
import torch
import torch.nn.functional as F

from steps_jax import (
    LSTM_LAYERS,
    LSTM_WIDTH,
    MOE_EXPERTS,
    MOE_HEADS,
    MOE_WIDTH,
    MOMENTUM,
    RESNET_STAGES,
    UNET_WIDTHS,
)


def norm(x, gain, shift):
    return F.layer_norm(x, x.shape[-1:], gain, shift, 1e-5)


def cross_entropy(logits, wanted):
    return F.cross_entropy(logits.float().flatten(0, -2), wanted.flatten())


def attend(q, k, v):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)


def gpt_loss(heads):
    def loss(parameters, text):
        embedding, places, *blocks, gain, shift = parameters
        inputs, wanted = text[:, :-1], text[:, 1:]
        rows, length = inputs.shape
        x = embedding[inputs] + places[:length]
        for at in range(0, len(blocks), 12):
            g1, b1, qkv, qkv_b, out, out_b, g2, b2, up, up_b, down, down_b = blocks[at : at + 12]
            parts = (norm(x, g1, b1) @ qkv + qkv_b).reshape(rows, length, 3, heads, -1)
            mixed = attend(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2])
            x = x + mixed.reshape(rows, length, -1) @ out + out_b
            x = x + F.gelu(norm(x, g2, b2) @ up + up_b, approximate="tanh") @ down + down_b
        return cross_entropy(norm(x, gain, shift) @ embedding.T, wanted)

    return loss


def scaled(x, gain):
    wide = x.float()
    return (wide * torch.rsqrt((wide * wide).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * gain


def turned(x):
    length, half = x.shape[1], x.shape[-1] // 2
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(half) / half)
    cos, sin = (f(angles)[None, :, None] for f in (torch.cos, torch.sin))
    a, b = x[..., :half].float(), x[..., half:].float()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


def llama_loss(heads):
    def loss(parameters, text):
        embedding, *blocks, gain, head = parameters
        inputs, wanted = text[:, :-1], text[:, 1:]
        rows, length = inputs.shape
        x = embedding[inputs]
        for at in range(0, len(blocks), 6):
            g1, qkv, out, g2, gate_up, down = blocks[at : at + 6]
            parts = (scaled(x, g1) @ qkv).reshape(rows, length, 3, heads, -1)
            mixed = attend(turned(parts[:, :, 0]), turned(parts[:, :, 1]), parts[:, :, 2])
            x = x + mixed.reshape(rows, length, -1) @ out
            gate, up = (scaled(x, g2) @ gate_up).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ down
        return cross_entropy(scaled(x, gain) @ head, wanted)

    return loss


def convolved(x, weight, stride=1):
    return F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)


def resnet_loss(parameters, pictures, labels):
    rest = iter(parameters)

    def layer(x, stride=1):
        weight, gain, shift = next(rest), next(rest), next(rest)
        return F.batch_norm(convolved(x, weight, stride), None, None, gain, shift, training=True, eps=1e-5)

    x = F.max_pool2d(F.relu(layer(pictures, 2)), 3, 2, 1)
    for stage, blocks in enumerate(RESNET_STAGES):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = layer(F.relu(layer(F.relu(layer(x)), stride)))
            x = F.relu(y + (layer(x, stride) if block == 0 else x))
    return cross_entropy(x.mean((2, 3)) @ next(rest) + next(rest), labels)


def unet_loss(parameters, pictures, wanted):
    rest = iter(parameters)

    def pair(x):
        for _ in range(2):
            x = F.silu(F.group_norm(convolved(x, next(rest)), 8, next(rest), next(rest), 1e-5))
        return x

    x, kept = convolved(pictures, next(rest)), []
    for level in range(len(UNET_WIDTHS)):
        x = pair(x)
        if level + 1 < len(UNET_WIDTHS):
            kept.append(x)
            x = F.avg_pool2d(x, 2)
    while kept:
        x = F.interpolate(x, scale_factor=2.0, mode="nearest")
        x = pair(torch.cat([x, kept.pop()], 1))
    return F.mse_loss(convolved(x, next(rest)), wanted)


def lstm_loss(parameters, text):
    embedding, *layers, head = parameters
    x = embedding[text[:, :-1]]
    zeros = torch.zeros(LSTM_LAYERS, x.shape[0], LSTM_WIDTH)
    weights = []
    for at in range(0, len(layers), 3):
        weights += [layers[at], layers[at + 1], layers[at + 2], torch.zeros_like(layers[at + 2])]
    x = torch.lstm(x, (zeros, zeros), weights, True, LSTM_LAYERS, 0.0, True, False, True)[0]
    return cross_entropy(x @ head, text[:, 1:])


def experts_of(x, router, up, down):
    count = x.shape[0]
    room = count * 2 * 5 // (4 * MOE_EXPERTS)
    shares, chosen = torch.softmax(x @ router, -1).topk(2)
    shares = shares / shares.sum(-1, keepdim=True)
    picked = F.one_hot(chosen.reshape(-1), MOE_EXPERTS)
    place = ((picked.cumsum(0) - 1) * picked).sum(-1)
    # What has no room goes into a row that is cut off.
    at = torch.where(place < room, chosen.reshape(-1) * room + place, MOE_EXPERTS * room)
    sent = x.new_zeros(MOE_EXPERTS * room + 1, MOE_WIDTH).index_put((at,), x.repeat_interleave(2, 0))[:-1]
    h = F.gelu(sent.reshape(MOE_EXPERTS, room, -1) @ up, approximate="tanh")
    back = F.pad((h @ down).reshape(MOE_EXPERTS * room, -1), (0, 0, 0, 1))
    return (back[at].reshape(count, 2, -1) * shares[..., None]).sum(1)


def moe_loss(parameters, text):
    embedding, *blocks, gain, shift, head = parameters
    x = embedding[text[:, :-1]]
    rows, length = x.shape[:2]
    for at in range(0, len(blocks), 9):
        g1, b1, qkv, out, g2, b2, router, up, down = blocks[at : at + 9]
        parts = (norm(x, g1, b1) @ qkv).reshape(rows, length, 3, MOE_HEADS, -1)
        x = x + attend(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]).reshape(rows, length, -1) @ out
        flat = norm(x, g2, b2).reshape(rows * length, -1)
        x = x + experts_of(flat, router, up, down).reshape(x.shape)
    return cross_entropy(norm(x, gain, shift) @ head, text[:, 1:])


LOSSES = {
    "gpt2": gpt_loss(12),
    "gpt": gpt_loss(8),
    "llama": llama_loss(8),
    "resnet-50": resnet_loss,
    "unet": unet_loss,
    "lstm": lstm_loss,
    "moe": moe_loss,
}


def tensor_of(array, convolution):
    """Kernels and images as torch has them: channels first, lying last."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    made = torch.from_numpy(np.array(array))
    if made.dim() == 4:
        order = (3, 2, 0, 1) if convolution else (0, 3, 1, 2)
        made = made.permute(order).contiguous(memory_format=torch.channels_last)
    return made.long() if made.dtype == torch.int32 else made


class TorchStep:
    def __init__(self, step, threads):
        torch.set_num_threads(threads)
        arrays, n = step.inputs(), len(step.shapes)
        self.parameters = [tensor_of(a, True).requires_grad_() for a in arrays[:n]]
        self.batch = [tensor_of(a, False) for a in arrays[n * (1 + step.state_count()) :]]
        if step.optimiser == MOMENTUM:
            self.optimiser = torch.optim.SGD(self.parameters, lr=1e-3, momentum=0.9, fused=True)
        else:
            self.optimiser = torch.optim.AdamW(self.parameters, lr=1e-4, weight_decay=0.1, fused=True)
        self.loss = None
        if step.loss is not None:
            self.loss = torch.compile(LOSSES[step.name.split()[0].rstrip(",")], dynamic=False)
            return
        for parameter, gradient in zip(self.parameters, self.batch):
            parameter.grad = gradient

    def run(self):
        value = None
        if self.loss is not None:
            self.optimiser.zero_grad(set_to_none=True)
            value = self.loss(self.parameters, *self.batch)
            value.backward()
        self.optimiser.step()
        return value

    def compile(self):
        """Seconds of the first step, and its loss."""
        begin = time.perf_counter()
        value = self.run()
        return time.perf_counter() - begin, None if value is None else float(value.detach())
