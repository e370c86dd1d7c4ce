"""Milliseconds of a TD3 update in JAX: the mean of one of the critics and a whole one."""
import json
import sys
import time
from functools import partial
from statistics import median

sys.dont_write_bytecode = True

from jax_sac_update import (  # noqa: E402 -- the line above must come first
    ACTION,
    BATCH,
    GAMMA,
    OBSERVATION,
    POLYAK,
    adam,
    descend,
    layers,
    mlp,
    task,
    values,
)

import jax  # noqa: E402 -- jax_sac_update says how it computes
import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402


def act(actor, observations):
    return jnp.tanh(mlp(actor, observations))


@partial(jax.jit, static_argnums=2, donate_argnums=0)
def update(carry, batch, is_full):
    (actor, critics), targets, (actor_state, critic_state), key = carry
    observations, actions, rewards, going_on, following = batch
    key, own = jax.random.split(key)
    noise = jnp.clip(0.2 * jax.random.normal(own, actions.shape), -0.5, 0.5)
    following_actions = jnp.clip(act(targets[0], following) + noise, -1, 1)
    value = jnp.minimum(*values(targets[1], following, following_actions))
    wanted = rewards + GAMMA * going_on * value

    def critic_loss(critics):
        found = values(critics, observations, actions)
        return sum(((it - wanted) ** 2).mean() for it in found)

    gradients = jax.grad(critic_loss)(critics)
    critics, critic_state = descend(gradients, critic_state, critics)
    if is_full:

        def actor_loss(actor):
            own = act(actor, observations)
            return -values(critics[:1], observations, own)[0].mean()

        gradients = jax.grad(actor_loss)(actor)
        actor, actor_state = descend(gradients, actor_state, actor)
        targets = optax.incremental_update((actor, critics), targets, POLYAK)
    return (actor, critics), targets, (actor_state, critic_state), key


def main():
    keys = jax.random.split(jax.random.key(task.get("seed", 0)), 8)
    critics = [layers(it, OBSERVATION + ACTION, 1) for it in keys[:2]]
    params = layers(keys[2], OBSERVATION, ACTION), critics
    states = tuple(adam.init(it) for it in params)
    carry = params, jax.tree.map(jnp.copy, params), states, keys[3]
    batch = (
        jax.random.normal(keys[4], (BATCH, OBSERVATION)),
        jax.random.uniform(keys[5], (BATCH, ACTION), minval=-1, maxval=1),
        jax.random.normal(keys[6], (BATCH,)),
        jnp.ones(BATCH),
        jax.random.normal(keys[7], (BATCH, OBSERVATION)),
    )
    times = []
    for _ in range(10 + task.get("repeats", 100)):
        started = time.perf_counter()
        for is_full in (False, True):
            carry = jax.block_until_ready(update(carry, batch, is_full))
        times.append((time.perf_counter() - started) * 500)
    print(json.dumps({"update_ms": median(times[10:])}))


if __name__ == "__main__":
    main()
