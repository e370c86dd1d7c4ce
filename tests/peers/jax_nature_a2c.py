"""Milliseconds of an A2C update of the Nature CNN in JAX, its batch sent at each.

The work is that of `torch_nature_a2c.py`, with frames that come as bytes.
"""
import json
import os
import sys
import time
from functools import partial
from statistics import median

task = json.loads(sys.argv[1])
os.environ["JAX_PLATFORMS"] = task.get("platform", "cpu")

import jax  # noqa: E402 -- the lines above must come first
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402

ROWS, ACTIONS = task.get("rows", 80), 6
CONVOLUTIONS = (8, 4, 32), (4, 2, 64), (3, 1, 64)

optimizer = optax.chain(
    optax.clip_by_global_norm(0.5),
    optax.rmsprop(7e-4, decay=0.99, eps=1e-5, initial_scale=1.0, eps_in_sqrt=True),
)


def init(key):
    keys = iter(jax.random.split(key, 6))
    orthogonal, params, channels = jax.nn.initializers.orthogonal, [], 4
    for size, _, out in CONVOLUTIONS:
        kernel = orthogonal(2**0.5)(next(keys), (size * size * channels, out))
        params.append((kernel.reshape(size, size, channels, out), jnp.zeros(out)))
        channels = out
    for inputs, out, gain in (3136, 512, 2**0.5), (512, ACTIONS, 0.01), (512, 1, 1.0):
        params.append((orthogonal(gain)(next(keys), (inputs, out)), jnp.zeros(out)))
    return params


def forward(params, frames):
    x = frames.astype(jnp.float32) / 255
    for (kernel, bias), (_, stride, _) in zip(params, CONVOLUTIONS):
        x = jax.lax.conv_general_dilated(
            x, kernel, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x + bias)
    hidden, policy, value = params[3:]
    x = jax.nn.relu(x.reshape(len(x), -1) @ hidden[0] + hidden[1])
    return x @ policy[0] + policy[1], (x @ value[0] + value[1])[:, 0]


def loss(params, frames, actions, returns):
    logits, values = forward(params, frames)
    log_probs = jax.nn.log_softmax(logits)
    advantages = returns - jax.lax.stop_gradient(values)
    chosen = jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0]
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    policy_loss = -(advantages * chosen).mean()
    return policy_loss - 0.01 * entropy + 0.5 * ((values - returns) ** 2).mean()


@partial(jax.jit, donate_argnums=0)
def update(carry, frames, actions, returns):
    params, state = carry
    gradients = jax.grad(loss)(params, frames, actions, returns)
    steps, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, steps), state


def main():
    random = np.random.default_rng(task.get("seed", 0))
    params = init(jax.random.key(task.get("seed", 0)))
    carry = params, optimizer.init(params)
    batch = (
        random.integers(256, size=(ROWS, 84, 84, 4), dtype=np.uint8),
        random.integers(ACTIONS, size=ROWS, dtype=np.int32),
        random.standard_normal(ROWS, dtype=np.float32),
    )
    times = []
    for _ in range(5 + task.get("repeats", 30)):
        started = time.perf_counter()
        carry = jax.block_until_ready(update(carry, *batch))
        times.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"update_ms": median(times[5:])}))


if __name__ == "__main__":
    main()
