"""The training steps of ../shared/programs for torch: GPT-2 124M with AdamW, and ResNet-50 with momentum, written as
their JAX models are. Forward and backward pass are compiled by torch.compile in its usual mode; the update is torch's own
fused kernel, which changes parameters where they lie: compiled, it would be hundreds of small kernels that take minutes.
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


# ---- both

def filled(shapes, dtype):
    made = []
    for shape in shapes:
        p = torch.randn(shape, device=DEVICE) * 0.02 if len(shape) > 1 else torch.ones(shape, device=DEVICE)
        p = p.to(dtype)
        p = p.contiguous(memory_format=torch.channels_last) if p.dim() == 4 else p
        made.append(p.requires_grad_())
    return made


class Step:
    def __init__(self, name, dtype):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        dtype = {"bf16": torch.bfloat16, "f32": torch.float32}[dtype]
        if name == "gpt2_124m_train":
            loss, self.parameters = gpt_loss, filled(gpt_shapes(), dtype)
            self.batch = [torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1), device=DEVICE)]
            self.optimizer = torch.optim.AdamW(self.parameters, lr=3e-4, weight_decay=0.1, fused=True)
        else:
            loss, self.parameters = resnet_loss, filled(resnet_shapes(), dtype)
            images = torch.randn(IMAGES, 3, PIXELS, PIXELS, device=DEVICE).to(dtype)
            self.batch = [images.contiguous(memory_format=torch.channels_last),
                          torch.randint(0, CLASSES, (IMAGES,), device=DEVICE)]
            self.optimizer = torch.optim.SGD(self.parameters, lr=0.1, momentum=0.9, fused=True)
        self.loss = torch.compile(loss, dynamic=False)

    def run(self):
        self.loss(self.parameters, *self.batch).backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def compile(self):
        """Seconds until the first step is done."""
        begin = time.perf_counter()
        self.run()
        torch.cuda.synchronize()
        taken = time.perf_counter() - begin
        torch.cuda.empty_cache()  # others are at work too
        return taken

    def seconds(self, runs):
        """Of one step, by CUDA events."""
        for _ in range(3):
            self.run()
        seconds = []
        for _ in range(3):
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            for _ in range(runs):
                self.run()
            last.record()
            torch.cuda.synchronize()
            seconds.append(first.elapsed_time(last) / 1e3 / runs)
        return sorted(seconds)[1]
