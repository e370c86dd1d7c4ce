"""Milliseconds of a SAC update in JAX: critics, actor, temperature, targets."""
import json
import math
import os
import sys
import time
from functools import partial
from statistics import median

task = json.loads(sys.argv[1])
threads = task.get("threads", 1)
os.environ["XLA_FLAGS"] = (
    f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()} "
    f"intra_op_parallelism_threads={threads}"
)
os.environ["OMP_NUM_THREADS"] = os.environ["NPROC"] = str(threads)
os.environ["JAX_PLATFORMS"] = task.get("platform", "cpu")

import jax  # noqa: E402 -- the lines above must come first
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402

# A program runs in the caller's thread; handing it to another one costs more.
jax.config.update("jax_cpu_enable_async_dispatch", False)

OBSERVATION, ACTION, HIDDEN, BATCH = 17, 6, 256, 256
GAMMA, POLYAK, TARGET_ENTROPY = 0.99, 0.005, -float(ACTION)
adam = optax.adam(3e-4)


def layers(key, inputs, outputs):
    sizes = [(inputs, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, outputs)]
    uniform = jax.nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")
    return [
        (uniform(k, size), jnp.zeros(size[1]))
        for k, size in zip(jax.random.split(key, 3), sizes)
    ]


def mlp(params, x):
    for weight, bias in params[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = params[-1]
    return x @ weight + bias


def values(critics, observations, actions):
    x = jnp.concatenate([observations, actions], 1)
    return [mlp(it, x)[:, 0] for it in critics]


def sample(actor, observations, key):
    """Actions of the tanh-Gaussian policy and their log-probabilities."""
    mean, log_std = jnp.split(mlp(actor, observations), 2, 1)
    log_std = jnp.clip(log_std, -20, 2)
    noise = jax.random.normal(key, mean.shape)
    raw = mean + jnp.exp(log_std) * noise
    # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2 x))
    log_prob = -0.5 * noise**2 - log_std + 2 * (raw + jax.nn.softplus(-2 * raw))
    shift = ACTION * (0.5 * math.log(2 * math.pi) + 2 * math.log(2))
    return jnp.tanh(raw), log_prob.sum(1) - shift


def descend(gradients, state, params):
    steps, state = adam.update(gradients, state)
    return optax.apply_updates(params, steps), state


@partial(jax.jit, donate_argnums=0)
def update(carry, batch):
    (actor, critics, log_alpha), targets, states, key = carry
    observations, actions, rewards, going_on, following = batch
    key, first, second = jax.random.split(key, 3)
    alpha = jnp.exp(log_alpha)

    next_actions, log_probs = sample(actor, following, first)
    value = jnp.minimum(*values(targets, following, next_actions))
    wanted = rewards + GAMMA * going_on * (value - alpha * log_probs)

    def critic_loss(critics):
        found = values(critics, observations, actions)
        return sum(((it - wanted) ** 2).mean() for it in found)

    gradients = jax.grad(critic_loss)(critics)
    critics, critic_state = descend(gradients, states[1], critics)

    def actor_loss(actor):
        actions, log_probs = sample(actor, observations, second)
        value = jnp.minimum(*values(critics, observations, actions))
        return (alpha * log_probs - value).mean(), log_probs.mean()

    gradients, log_prob = jax.grad(actor_loss, has_aux=True)(actor)
    actor, actor_state = descend(gradients, states[0], actor)

    gradient = -(log_prob + TARGET_ENTROPY)
    log_alpha, alpha_state = descend(gradient, states[2], log_alpha)
    targets = optax.incremental_update(critics, targets, POLYAK)
    states = actor_state, critic_state, alpha_state
    return (actor, critics, log_alpha), targets, states, key


def main():
    keys = jax.random.split(jax.random.key(task.get("seed", 0)), 8)
    critics = [layers(it, OBSERVATION + ACTION, 1) for it in keys[:2]]
    params = layers(keys[2], OBSERVATION, 2 * ACTION), critics, jnp.zeros(())
    states = tuple(adam.init(it) for it in params)
    carry = params, jax.tree.map(jnp.copy, critics), states, keys[3]
    batch = (
        jax.random.normal(keys[4], (BATCH, OBSERVATION)),
        jax.random.uniform(keys[5], (BATCH, ACTION), minval=-1, maxval=1),
        jax.random.normal(keys[6], (BATCH,)),
        jnp.ones(BATCH),
        jax.random.normal(keys[7], (BATCH, OBSERVATION)),
    )
    if task.get("send"):  # from the host's memory at each update
        batch = tuple(map(np.asarray, batch))
    times = []
    for _ in range(20 + task.get("repeats", 200)):
        started = time.perf_counter()
        carry = jax.block_until_ready(update(carry, batch))
        times.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"update_ms": median(times[20:])}))


if __name__ == "__main__":
    main()
