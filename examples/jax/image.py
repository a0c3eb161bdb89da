"""A small convolutional network tells rings from crosses; its batch is split over two devices.

    python examples/jax/image.py [--steps 40]
"""

import argparse

import heddle
import jax
import jax.numpy as jnp
import numpy as np

SIZE = 16


def make_params(seed=0):
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    return {"first": normal(8, 1, 3, 3), "second": normal(16, 8, 3, 3), "last": normal(2, 16).T}


def network(params, images):
    x = jax.lax.conv(images, params["first"], (2, 2), "SAME")
    x = jax.lax.conv(jax.nn.relu(x), params["second"], (2, 2), "SAME")
    return jax.nn.relu(x).mean((2, 3)) @ params["last"]


def loss_of(params, images, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(network(params, images)), labels[:, None], 1)
    return -chosen.mean()


def train_step(params, images, labels):
    loss, grads = jax.value_and_grad(loss_of)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), loss


def batch_of(step, size=32):
    rng = np.random.default_rng(step)
    labels = rng.integers(0, 2, size).astype(np.int32)
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE / 2 + 0.5
    ring = np.abs(np.hypot(x, y) - 5) < 1
    cross = (np.abs(x) < 1.5) | (np.abs(y) < 1.5)
    images = np.where(labels[:, None, None], ring, cross) + 0.2 * rng.standard_normal((size, SIZE, SIZE))
    return images[:, None].astype(np.float32), labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps

    step = heddle.jit(
        train_step, mesh={"dp": 2}, layouts={"images": "dp,_,_,_", "labels": "dp"}, donate="params"
    )
    params = make_params()
    for i in range(steps):
        params, loss = step(params, *batch_of(i))
        if i % 20 == 0 or i == steps - 1:
            print(f"step {i:3}  loss {float(loss):.3f}")

    images, labels = batch_of(1000)
    guess = np.asarray(heddle.jit(network)(params, images)).argmax(1)
    print(f"right on {100 * (guess == labels).mean():.0f} % of new images")


if __name__ == "__main__":
    main()
