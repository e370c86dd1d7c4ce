"""Milliseconds of a double DQN update in JAX, of CartPole's sizes."""
import json
import sys
import time
from functools import partial
from statistics import median

sys.dont_write_bytecode = True

from jax_sac_update import GAMMA, mlp, task  # noqa: E402 -- the line above must come first

import jax  # noqa: E402 -- jax_sac_update says how it computes
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402

OBSERVATION, ACTIONS = 4, 2
HIDDEN, BATCH = task.get("hidden", [256, 256]), task.get("batch", 64)
optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(5e-4))


def network(key):
    sizes = [OBSERVATION, *HIDDEN, ACTIONS]
    uniform = jax.nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")
    return [
        (uniform(k, size), jnp.zeros(size[1]))
        for k, size in zip(jax.random.split(key, 3), zip(sizes, sizes[1:]))
    ]


def taken(values, actions):
    return jnp.take_along_axis(values, actions[:, None], 1)[:, 0]


@partial(jax.jit, donate_argnums=0)
def update(carry, batch, tau):
    params, target, state = carry
    observations, actions, rewards, going_on, following = batch
    best = mlp(params, following).argmax(1)
    wanted = rewards + GAMMA * going_on * taken(mlp(target, following), best)

    def loss(params):
        errors = taken(mlp(params, observations), actions) - wanted
        return optax.huber_loss(errors).mean(), jnp.abs(errors)

    (value, errors), gradients = jax.value_and_grad(loss, has_aux=True)(params)
    steps, state = optimizer.update(gradients, state)
    params = optax.apply_updates(params, steps)
    target = optax.incremental_update(params, target, tau)
    return (params, target, state), value, errors


def main():
    keys = jax.random.split(jax.random.key(task.get("seed", 0)), 5)
    params = network(keys[0])
    carry = params, jax.tree.map(jnp.copy, params), optimizer.init(params)
    # From the host's memory at each update, as a replay buffer gives it.
    batch = tuple(
        map(
            np.asarray,
            (
                jax.random.normal(keys[1], (BATCH, OBSERVATION)),
                jax.random.randint(keys[2], (BATCH,), 0, ACTIONS),
                jax.random.normal(keys[3], (BATCH,)),
                jnp.ones(BATCH),
                jax.random.normal(keys[4], (BATCH, OBSERVATION)),
            ),
        )
    )
    times = []
    for _ in range(50 + task.get("repeats", 500)):
        started = time.perf_counter()
        carry, value, errors = update(carry, batch, 0.0)
        float(value), np.asarray(errors)
        times.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"update_ms": median(times[50:])}))


if __name__ == "__main__":
    main()
