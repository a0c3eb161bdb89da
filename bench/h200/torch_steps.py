"""The training steps of ../shared/programs for torch: GPT-2 124M with AdamW, and ResNet-50 with momentum, written as
their JAX models are, compiled by torch.compile. A step takes all that changes and gives it anew; nothing is donated.
"""

import math
import time

import torch
import torch.nn.functional as F

DEVICE = "cuda"


def layer_norm(x, gain, shift):
    return F.layer_norm(x, x.shape[-1:], gain, shift, 1e-5)


# ---- GPT-2

LAYERS, WIDTH, VOCABULARY, LENGTH, HEADS, BATCH = 12, 768, 50257, 1024, 12, 8


def gpt_shapes():
    d = WIDTH
    block = [(d,), (d,), (d, 3 * d), (3 * d,), (d, d), (d,), (d,), (d,), (d, 4 * d), (4 * d,), (4 * d, d), (d,)]
    return [(VOCABULARY, d), (LENGTH, d)] + block * LAYERS + [(d,), (d,)]


def gpt_loss(parameters, tokens):
    embedding, positions, *blocks, gain, shift = parameters
    inputs, wanted = tokens[:, :-1], tokens[:, 1:]
    batch, length = inputs.shape
    x = embedding[inputs] + positions[:length]
    mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
    for at in range(0, len(blocks), 12):
        g1, b1, qkv, qkv_b, proj, proj_b, g2, b2, up, up_b, down, down_b = blocks[at:at + 12]
        parts = (layer_norm(x, g1, b1) @ qkv + qkv_b).split(WIDTH, -1)
        q, k, v = (t.view(batch, length, HEADS, -1).transpose(1, 2) for t in parts)
        scores = torch.where(mask, q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS), torch.finfo(q.dtype).min)
        mixed = torch.softmax(scores, -1) @ v
        x = x + mixed.transpose(1, 2).reshape(batch, length, WIDTH) @ proj + proj_b
        x = x + F.gelu(layer_norm(x, g2, b2) @ up + up_b, approximate="tanh") @ down + down_b
    logits = layer_norm(x, gain, shift) @ embedding.T
    return F.cross_entropy(logits.float().flatten(0, 1), wanted.flatten())


def adamw(parameters, gradients, state, count):
    means, squares = state
    means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients)]
    squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, gradients)]
    one, two = 1 - 0.9**count, 1 - 0.999**count
    changed = [p - 3e-4 * (m / one / ((s / two).sqrt() + 1e-8) + 0.1 * p)
               for p, m, s in zip(parameters, means, squares)]
    return changed, (means, squares)


# ---- ResNet-50

STAGES, CLASSES, IMAGES, PIXELS = (3, 4, 6, 3), 1000, 256, 224


def resnet_shapes():
    shapes, inputs = [(64, 3, 7, 7), (64,), (64,)], 64
    for stage, blocks in enumerate(STAGES):
        width = 64 << stage
        for block in range(blocks):
            for shape in ((width, inputs, 1, 1), (width, width, 3, 3), (4 * width, width, 1, 1)):
                shapes += [shape, shape[:1], shape[:1]]
            if block == 0:
                shapes += [(4 * width, inputs, 1, 1), (4 * width,), (4 * width,)]
            inputs = 4 * width
    return shapes + [(2048, CLASSES), (CLASSES,)]


def normed(x, weight, gain, shift, stride=1):
    x = F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
    return F.batch_norm(x, None, None, gain, shift, training=True, eps=1e-5)


def resnet_loss(parameters, images, labels):
    rest = iter(parameters)

    def take():
        return next(rest), next(rest), next(rest)
    x = F.max_pool2d(F.relu(normed(images, *take(), stride=2)), 3, 2, 1)
    for stage, blocks in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = F.relu(normed(x, *take()))
            y = F.relu(normed(y, *take(), stride=stride))
            y = normed(y, *take())
            x = F.relu(y + (normed(x, *take(), stride=stride) if block == 0 else x))
    return F.cross_entropy(x.mean((2, 3)).float() @ next(rest).float() + next(rest).float(), labels)


def momentum(parameters, gradients, state, _count):
    state = [0.9 * m + g for m, g in zip(state, gradients)]
    return [p - 0.1 * m for p, m in zip(parameters, state)], state


# ---- both

def filled(shapes, dtype):
    made = []
    for shape in shapes:
        p = torch.randn(shape, device=DEVICE) * 0.02 if len(shape) > 1 else torch.ones(shape, device=DEVICE)
        p = p.to(dtype)
        made.append(p.contiguous(memory_format=torch.channels_last) if p.dim() == 4 else p)
    return made


def torch_seconds(name, dtype, runs):
    """Of one step, by CUDA events, and of compiling."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if name == "gpt2_124m_train":
        loss, update, parameters = gpt_loss, adamw, filled(gpt_shapes(), dtype)
        state = ([torch.zeros_like(p) for p in parameters], [torch.ones_like(p) for p in parameters])
        batch = [torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1), device=DEVICE)]
    else:
        loss, update, parameters = resnet_loss, momentum, filled(resnet_shapes(), dtype)
        state = [torch.zeros_like(p) for p in parameters]
        images = torch.randn(IMAGES, 3, PIXELS, PIXELS, device=DEVICE).to(dtype)
        batch = [images.contiguous(memory_format=torch.channels_last),
                 torch.randint(0, CLASSES, (IMAGES,), device=DEVICE)]
    gradient = torch.compile(lambda p, *b: loss(p, *b), dynamic=False)
    change = torch.compile(update, dynamic=False)

    def step():
        leaves = [p.detach().requires_grad_() for p in parameters]
        value = gradient(leaves, *batch)
        gradients = torch.autograd.grad(value, leaves)
        with torch.no_grad():
            return change(parameters, gradients, state, 5)
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize()
    compiled = time.perf_counter() - begin
    for _ in range(2):
        step()
    seconds = []
    for _ in range(3):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(runs):
            step()
        last.record()
        torch.cuda.synchronize()
        seconds.append(first.elapsed_time(last) / 1e3 / runs)
    return sorted(seconds)[1], compiled
